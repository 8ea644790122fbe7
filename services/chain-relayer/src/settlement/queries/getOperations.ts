import { type Database } from "@wonrail/kit/db";
import { type OperationKey } from "../store/operations";
import { listOperationStates } from "../store/operationDetails";

export interface FoundOperation extends OperationKey {
  status: "OPEN" | "CONFIRMED" | "FAILED";
}

/** States of operations. An operation is open until it is final, whatever it waits for. */
export async function getOperations(
  { db }: { db: Database },
  refs: OperationKey[],
): Promise<FoundOperation[]> {
  const found = await listOperationStates(db, refs);
  return found.map(({ state, ...key }) => ({
    ...key,
    status: state === "CONFIRMED" || state === "FAILED" ? state : "OPEN",
  }));
}
