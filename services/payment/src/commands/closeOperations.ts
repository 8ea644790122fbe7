import { type Database, tx } from "@wonrail/kit/db";
import { isUndone } from "@wonrail/kit/contract/errors";
import { enumName, type PromiseClient } from "@wonrail/kit/grpc/client";
import { type Log } from "@wonrail/kit/log";
import { type LedgerServiceService, RequestPlace } from "@wonrail/proto/ledger/v1/ledger";
import { type Closing, endClosing, listClosings, lockClosing, saveClosing } from "../store/closings";
import { findOperationState, forgetOpenOperation } from "../store/operations";

const AT_ONCE = 100;

/**
 * Writes down that an operator wants an open operation closed; the job looks into it. Tells the operation's state when it is not open, and undefined when there is none: then
 * nothing is written.
 */
export async function beginClosing(
  db: Database,
  closing: Closing,
): Promise<Awaited<ReturnType<typeof findOperationState>>> {
  return tx(db, async (tx) => {
    const state = await findOperationState(tx, closing);
    if (state === "CLAIMED") await saveClosing(tx, closing);
    return state;
  });
}

export interface CloseOperationsDeps {
  db: Database;
  log: Log;
  ledger: Pick<PromiseClient<typeof LedgerServiceService>, "findRequest">;
}

/** Looks into what operators have written down. One that cannot be looked into keeps no other waiting; the round fails at its end, for the job's alert. */
export async function closeOperations(deps: CloseOperationsDeps, signal: AbortSignal): Promise<void> {
  let undone = 0;
  for (const closing of await listClosings(deps.db, AT_ONCE)) {
    if (signal.aborted) return;
    try {
      await closeOperation(deps, closing);
    } catch (error) {
      // The ledger or Postgres is away: the next ones would only find the same.
      if (isUndone(error)) throw error;
      deps.log.error(
        { err: error, ...closing },
        "an operation that is to be closed could not be looked into",
      );
      undone += 1;
    }
  }
  if (undone > 0) throw new Error(`${undone} operations could not be looked into; the log names each`);
}

/**
 * That the ledger has never decided it and never will holds for ever, so it does not matter who else goes on with the operation meanwhile, the completer, another
 * replica or its client: none of them can have it posted. Its key is free then, as of any whose id the ledger does not take.
 */
async function closeOperation({ db, log, ledger }: CloseOperationsDeps, closing: Closing): Promise<void> {
  const { orgId, operationId } = closing;
  const { place } = await ledger.findRequest({ orgId, requestId: operationId });
  // One that a newer ledger says, and this release does not know, is no leave to close anything.
  const found = enumName(RequestPlace, place) ?? "UNKNOWN";
  const forgotten = await tx(db, async (tx) => {
    if (!(await lockClosing(tx, closing))) return undefined;
    if (found !== "NOWHERE") {
      const state = await findOperationState(tx, closing);
      await endClosing(tx, closing, state === "CLAIMED" ? found : "NOT_OPEN");
      return undefined;
    }
    const operation = await forgetOpenOperation(tx, closing);
    await endClosing(tx, closing, operation ? "CLOSED" : "NOT_OPEN");
    return operation;
  });
  if (forgotten)
    log.info({ ...closing, ...forgotten }, "an operator has closed an operation that was never posted");
}
