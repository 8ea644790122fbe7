import { type Queryable } from "@wonrail/kit/db";
import { type Step } from "../domain/settlement";
import { type Operation } from "../store/operations";
import { findUsedAuthorizations, type UsedAuthorization } from "../store/usedAuthorizations";

/** The steps that are still to be done: whose authorization nobody has used. */
export function remainingSteps({ steps }: Operation, used: ReadonlyMap<string, UsedAuthorization>): Step[] {
  return steps.filter(({ fromWalletId, nonce }) => !used.has(`${fromWalletId}|${nonce}`));
}

/** Anyone may submit an authorization. When every leg of an operation was, it is settled: by the last of those transactions. */
export async function settledByOthers(
  db: Queryable,
  { steps }: Operation,
): Promise<Pick<UsedAuthorization, "txHash" | "blockNumber" | "blockHash"> | null> {
  const legs = steps.flatMap(({ fromWalletId, nonce }) =>
    fromWalletId === null ? [] : [{ fromWalletId, nonce }],
  );
  if (legs.length === 0 || legs.length !== steps.length) return null;
  const used = await findUsedAuthorizations(db, legs);
  if (used.size !== legs.length) return null;
  return [...used.values()].reduce((last, one) => (one.blockNumber > last.blockNumber ? one : last));
}
