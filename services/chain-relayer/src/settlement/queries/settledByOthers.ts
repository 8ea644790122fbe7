import { type Queryable } from "@wonrail/kit/db";
import { isMovementOf } from "../domain/movement";
import { isLeg, type Step, walletsOf } from "../domain/steps";
import { type Operation } from "../store/operations";
import { findAddresses, findUsedAuthorizations, type UsedAuthorization } from "../../indexer";

type Used = ReadonlyMap<string, UsedAuthorization>;

/** The steps that are still to be done: whose authorization nobody has used for them. */
export function remainingSteps(
  { steps }: Pick<Operation, "steps">,
  used: Used,
  addresses: ReadonlyMap<string, string>,
): Step[] {
  return steps.filter((step) => !isDoneBy(step, used, addresses));
}

/** After a restore another entry may have had this one's number: its authorization has the same name, and has moved something else. */
function isDoneBy(step: Step, used: Used, addresses: ReadonlyMap<string, string>): boolean {
  const by = used.get(`${step.fromWalletId}|${step.nonce}`);
  if (!by?.moved) return by !== undefined;
  const from = addresses.get(by.fromWalletId)?.toLowerCase() ?? "";
  return isMovementOf(step, { from, ...by.moved }, addresses);
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
  const legs = moved.flatMap(({ steps }) => steps.filter(isLeg));
  const used = await findUsedAuthorizations(db, legs);
  const addresses = await findAddresses(db, walletsOf(legs));
  return new Map(
    moved.flatMap(({ operationId, steps }): [string, SettledBy][] => {
      if (remainingSteps({ steps }, used, addresses).length > 0) return [];
      const by = steps.flatMap(({ fromWalletId, nonce }) => used.get(`${fromWalletId}|${nonce}`) ?? []);
      return [[operationId, by.reduce((last, one) => (one.blockNumber > last.blockNumber ? one : last))]];
    }),
  );
}
