import { ZERO_ADDRESS } from "@wonrail/kit/contract/address";
import { type Tx } from "@wonrail/kit/db";
import { isOutcome, type Outcome, placeOf, type TransferEvent } from "../../evm";
import { type FinalRange } from "../../indexer";
import { findHoldLegs, findLegs, type Leg } from "../store/legs";
import { type Operation } from "../store/operations";

/** Operations behind the events in a range of final blocks. */
export interface EventOrigins {
  /** The leg that a transfer settles, by the place of its log. */
  legs: Map<string, Leg & { kind: "entry" | "hold" }>;
  /** The payment manager's outcomes of each transaction, in order. */
  outcomes: Map<string, Outcome[]>;
  /** By operation id. An operation whose name was used by another is absent. */
  operations: ReadonlyMap<string, Operation>;
}

export async function findEventOrigins(
  tx: Tx,
  { events, owners }: FinalRange,
  operations: ReadonlyMap<string, Operation>,
): Promise<EventOrigins> {
  const used = events.flatMap((event) => {
    const owner = event.kind === "used" ? owners.get(event.authorizer) : undefined;
    return event.kind === "used" && owner
      ? [{ event, fromWalletId: owner.walletId, nonce: event.nonce }]
      : [];
  });
  const found = await findLegs(tx, used);
  const holds = await findHoldLegs(tx, [...found.values()]);
  const legs: EventOrigins["legs"] = new Map();
  for (const { event, fromWalletId, nonce } of used) {
    const key = `${fromWalletId}|${nonce}`;
    const leg = found.get(key);
    // The token logs the authorization right before its transfer.
    if (leg) legs.set(placeOf(event, 1), { ...leg, kind: holds.has(key) ? "hold" : "entry" });
  }
  const outcomes: EventOrigins["outcomes"] = new Map();
  for (const event of events) {
    if (!isOutcome(event)) continue;
    const known = outcomes.get(event.log.txHash);
    if (known) known.push(event);
    else outcomes.set(event.log.txHash, [event]);
  }
  return { legs, outcomes, operations };
}

/** The operation that a mint belongs to: the payment manager logs its outcome after the mint. */
export function findMintingOperation(
  { from, log }: TransferEvent,
  { outcomes, operations }: EventOrigins,
): { outcome?: Outcome | undefined; operation?: Operation | undefined } {
  if (from !== ZERO_ADDRESS) return {};
  const outcome = outcomes.get(log.txHash)?.find((one) => one.log.logIndex > log.logIndex);
  return { outcome, operation: outcome && operations.get(outcome.operationId) };
}
