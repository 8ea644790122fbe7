import { type Clients } from "../../clients";
import { transactionJson } from "../wallets";
import { type StatementLine } from "./reportWriter";
import { withTime } from "../../middleware/withTime";

export type SettledOperation = Pick<StatementLine, "type" | "amount" | "settlement" | "createdAt"> & {
  operationId: string;
};

const LINES_PER_CALL = 100;

/** Reads the operations of a period page by page. The lines of an operation follow each other. */
export async function* readSettlements(
  payment: Pick<Clients["payment"], "listTransactions">,
  { orgId, from, to }: { orgId: string; from: Date; to: Date },
): AsyncGenerator<SettledOperation[], void, undefined> {
  let cursor: string | undefined;
  let last: string | undefined;
  do {
    const position =
      cursor === undefined
        ? ({ $case: "currentPage", value: 1 } as const)
        : ({ $case: "cursor", value: cursor } as const);
    const page = { limit: LINES_PER_CALL, position, oldestFirst: true };
    const asked = { orgId, types: [], filter: { from, to }, page };
    const answer = await withTime(() => payment.listTransactions(asked, { retry: true }));
    const operations: SettledOperation[] = [];
    for (const line of answer.transactions.map(transactionJson)) {
      const operationId = line.cancelId ?? line.relatedId;
      if (operationId === last) continue;
      last = operationId;
      const { type, amount, settlement, createdAt } = line;
      operations.push({ operationId, type, amount, settlement, createdAt });
    }
    yield operations;
    cursor = answer.page?.nextCursor;
  } while (cursor !== undefined);
}
