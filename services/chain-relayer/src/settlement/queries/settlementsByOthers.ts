import { type Queryable } from "@wonrail/kit/db";
import { isMovementOf } from "../domain/movement";
import { isLeg, type Step, walletsOf } from "../domain/steps";
import { type Operation } from "../store/operations";
import { findAddresses, findUsedAuthorizations, type UsedAuthorization } from "../../indexer";

type Used = ReadonlyMap<string, UsedAuthorization>;

/** The remaining steps: those whose authorization was not used for them. */
export function findRemainingSteps(
  { steps }: Pick<Operation, "steps">,
  used: Used,
  addresses: ReadonlyMap<string, string>,
): Step[] {
  return steps.filter((step) => !isDoneBy(step, used, addresses));
}

/**
 * After a restore another entry may have had this number: an authorization of the same name then
 * moved something else.
 */
function isDoneBy(step: Step, used: Used, addresses: ReadonlyMap<string, string>): boolean {
  const by = used.get(`${step.fromWalletId}|${step.nonce}`);
  if (!by?.moved) return by !== undefined;
  const from = addresses.get(by.fromWalletId)?.toLowerCase() ?? "";
  return isMovementOf(step, { from, ...by.moved }, addresses);
}

export type SettlingTransaction = Pick<UsedAuthorization, "txHash" | "blockNumber" | "blockHash">;

/**
 * Any stranger may submit an authorization. When all legs of an operation were used, the
 * last of those transactions settles it.
 */
export async function findSettlementByOthers(
  db: Queryable,
  operation: Operation,
): Promise<SettlingTransaction | null> {
  return (await findSettlementsByOthers(db, [operation])).get(operation.operationId) ?? null;
}

/** The same for many operations, by id; unsettled ones are absent. */
export async function findSettlementsByOthers(
  db: Queryable,
  operations: Operation[],
): Promise<Map<string, SettlingTransaction>> {
  const moved = operations.filter(({ steps }) => steps.length > 0 && steps.every(isLeg));
  if (moved.length === 0) return new Map();
  const legs = moved.flatMap(({ steps }) => steps.filter(isLeg));
  const used = await findUsedAuthorizations(db, legs);
  const addresses = await findAddresses(db, walletsOf(legs));
  return new Map(
    moved.flatMap(({ operationId, steps }): [string, SettlingTransaction][] => {
      if (findRemainingSteps({ steps }, used, addresses).length > 0) return [];
      const by = steps.flatMap(({ fromWalletId, nonce }) => used.get(`${fromWalletId}|${nonce}`) ?? []);
      return [[operationId, by.reduce((last, one) => (one.blockNumber > last.blockNumber ? one : last))]];
    }),
  );
}
