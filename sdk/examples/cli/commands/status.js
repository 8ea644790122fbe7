import { idOf, required, show } from "../support/records.js";

export const status = {
  summary: "set a record's status",
  takes: ["<id>"],
  options: {
    to: { type: "string", help: "CONFIRMED or FAILED" },
    reason: { type: "string", help: "why it FAILED" },
  },
  examples: ["status last --to CONFIRMED", 'status last --to FAILED --reason "never sent"'],
  async run({ values, positionals, settings, output, signal }) {
    const client = settings.client();
    const id = await idOf(client, positionals[0], signal);
    const reason = values.reason === undefined ? {} : { failureReason: values.reason };
    const request = { status: required(values, "to"), ...reason };
    show({ output, client, record: await client.transactions.updateStatus(id, request, { signal }) });
  },
};
