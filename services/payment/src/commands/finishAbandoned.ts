import { runInContext } from "@wonrail/kit/context";
import { tx } from "@wonrail/kit/db";
import { type Claimed, takeAbandonedOperations } from "../store/operations";
import { type ExecuteDeps, finish } from "./execute";

/** Longer than a request's deadline allows its own process to be at it. */
const ABANDONED_AFTER_MS = 5_000;
const AT_ONCE = 200;

/** Brings to an end what a crash left open: posted or not, the ledger tells. */
export async function finishAbandoned(deps: ExecuteDeps): Promise<void> {
  const operations = await tx(deps.db, (tx) => takeAbandonedOperations(tx, ABANDONED_AFTER_MS, AT_ONCE));
  await Promise.all(operations.map((operation) => finishOne(deps, operation)));
}

function finishOne(deps: ExecuteDeps, operation: Claimed): Promise<void> {
  const { requestId, traceparent, orgId, operationId } = operation;
  return runInContext({ requestId, traceparent, orgId }, async () => {
    try {
      await finish(deps, operation);
      deps.log.info({ operationId }, "finished an abandoned operation");
    } catch (error) {
      deps.log.warn({ operationId, err: error }, "an abandoned operation is still open");
    }
  });
}
