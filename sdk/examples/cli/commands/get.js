import { idOf, show } from "../support/records.js";

export const get = {
  summary: "show a record and its history",
  takes: ["<id>"],
  options: {},
  examples: ["get last", "get txn_0192f0c1a2b37c4d8e5f60718293a4b5 --json"],
  async run({ positionals, settings, output, signal }) {
    const client = settings.client();
    show({
      output,
      client,
      record: await client.transactions.get(await idOf(client, positionals[0], signal), { signal }),
    });
  },
};
