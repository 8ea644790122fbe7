import { idOf, momentOf, required, show } from "../support/records.js";

export const schedule = {
  summary: "change when a scheduled record is due",
  takes: ["<id>"],
  options: { at: { type: "string", help: "ISO 8601 with a zone, or +30s, +10m, +2h" } },
  examples: ["schedule last --at +1m", "schedule last --at 2030-01-14T09:30:00+09:00"],
  async run({ values, positionals, settings, output, signal }) {
    const client = settings.client();
    const id = await idOf(client, positionals[0], signal);
    const request = { scheduledAt: momentOf(required(values, "at")) };
    show({ output, client, record: await client.transactions.updateSchedule(id, request, { signal }) });
  },
};
