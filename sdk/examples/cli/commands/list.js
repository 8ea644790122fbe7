import { formatUnits } from "@wonrail/sdk";
import { UsageError } from "../support/failures.js";

const COLUMNS = ["id", "paymentType", "status", "won", "createdAt", "txHash"];

export const list = {
  summary: "list records, newest first",
  takes: [],
  options: {
    status: { type: "string", help: "PENDING, CONFIRMED or FAILED" },
    type: { type: "string", help: "INSTANT or SCHEDULED" },
    address: { type: "string", help: "sender or recipient" },
    limit: { type: "string", help: "how many at most; 20 unless given, `all` for all" },
  },
  examples: ["list", "list --status PENDING --limit all --json"],
  async run({ values, settings, output, signal }) {
    const most = values.limit === "all" ? Infinity : Number(values.limit ?? 20);
    if (!(most >= 1)) throw new UsageError("--limit must be a number from 1, or all.");
    const query = {
      limit: Math.min(most, 100),
      ...(values.status === undefined ? {} : { status: values.status }),
      ...(values.type === undefined ? {} : { paymentType: values.type }),
      ...(values.address === undefined ? {} : { address: values.address }),
    };
    const items = [];
    for await (const record of settings.client().transactions.list(query, { signal })) {
      items.push(record);
      if (items.length >= most) break;
    }
    output.rows(output.json ? items : items.map(withWon), COLUMNS);
  },
};

function withWon(record) {
  return { ...record, won: formatUnits(record.amount) };
}
