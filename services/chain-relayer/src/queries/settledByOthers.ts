import { type Queryable } from "@wonrail/kit/db";
import { type Step } from "../domain/settlement";
import { type Operation } from "../store/operations";
import { findUsedAuthorizations, type UsedAuthorization } from "../store/usedAuthorizations";

/** The steps that are still to be done: whose authorization nobody has used. */
export function remainingSteps({ steps }: Operation, used: ReadonlyMap<string, UsedAuthorization>): Step[] {
  return steps.filter(({ fromWalletId, nonce }) => !used.has(`${fromWalletId}|${nonce}`));
}

export type SettledBy = Pick<UsedAuthorization, "txHash" | "blockNumber" | "blockHash">;

/** Anyone may submit an authorization. When every leg of an operation was, it is settled: by the last of those transactions. */
export async function settledByOthers(db: Queryable, operation: Operation): Promise<SettledBy | null> {
  return (await allSettledByOthers(db, [operation])).get(operation.operationId) ?? null;
}

/** The same of many, by operation id; those that are not settled are absent. */
export async function allSettledByOthers(
  db: Queryable,
  operations: Operation[],
): Promise<Map<string, SettledBy>> {
  const moved = operations.filter(({ steps }) => steps.length > 0 && steps.every(isLeg));
  if (moved.length === 0) return new Map();
  const used = await findUsedAuthorizations(
    db,
    moved.flatMap(({ steps }) => steps.filter(isLeg)),
  );
  return new Map(
    moved.flatMap(({ operationId, steps }): [string, SettledBy][] => {
      const by = steps.flatMap(({ fromWalletId, nonce }) => used.get(`${fromWalletId}|${nonce}`) ?? []);
      if (by.length !== steps.length) return [];
      return [[operationId, by.reduce((last, one) => (one.blockNumber > last.blockNumber ? one : last))]];
    }),
  );
}

function isLeg(step: Step): step is Step & { fromWalletId: string } {
  return step.fromWalletId !== null;
}
