import { ZERO_ADDRESS } from "@wonrail/kit/contract/address";
import { type Tx } from "@wonrail/kit/db";
import { placeOf, type TransferEvent } from "../../evm";
import { type FinalRange, isMoving } from "../../indexer";
import { findMintingOperation, type EventOrigins } from "../../settlement";
import { type NewDrift, saveDrifts } from "../store/drifts";
import { addMovements, type Movement, SUPPLY } from "../store/settledBalances";

/**
 * Adds the movements of a range of final blocks to the books of wallets and supply, each log once.
 * An unknown operation of our payment manager becomes a drift. If it minted, all outflow
 * stops until an operator acknowledges it.
 */
export async function recordMovements(tx: Tx, range: FinalRange, orders: EventOrigins): Promise<void> {
  await addMovements(
    tx,
    range.events.filter(isMoving).flatMap((event) => movementsOf(event, range, orders)),
  );
  await saveDrifts(tx, [...unknownOperations(range, orders), ...unexplainedMints(range, orders)]);
}

function movementsOf(event: TransferEvent, { owners }: FinalRange, orders: EventOrigins): Movement[] {
  const { from, to, units, log } = event;
  const of = { txHash: log.txHash, logIndex: log.logIndex };
  const payer = owners.get(from);
  const payee = owners.get(to);
  const movements: Movement[] = [];
  if (payer && payer !== payee)
    movements.push({ ...of, accountId: payer.walletId, orgId: payer.orgId, units: -units });
  if (payee && payer !== payee)
    movements.push({ ...of, accountId: payee.walletId, orgId: payee.orgId, units });
  if (from === ZERO_ADDRESS || to === ZERO_ADDRESS) {
    const change = from === ZERO_ADDRESS ? units : -units;
    movements.push({ ...of, accountId: SUPPLY, orgId: orderedBy(event, orders) ?? "", units: change });
  }
  return movements;
}

/** The organisation whose operation minted or burned. */
function orderedBy(event: TransferEvent, orders: EventOrigins): string | undefined {
  return orders.legs.get(placeOf(event))?.orgId ?? findMintingOperation(event, orders).operation?.orgId;
}

/** Another copy of this system has the operator's key, or this database is older than the chain. */
function unknownOperations({ events }: FinalRange, { operations }: EventOrigins): NewDrift[] {
  return events.flatMap((event) =>
    event.kind !== "executed" || operations.has(event.operationId)
      ? []
      : [
          {
            orgId: "",
            walletId: "",
            kind: "UNKNOWN_OPERATION" as const,
            subject: event.operationId,
            expected: 0n,
            actual: 1n,
            blockNumber: event.log.blockNumber,
          },
        ],
  );
}

/** Amounts that each unknown operation has minted. */
function unexplainedMints({ events }: FinalRange, orders: EventOrigins): NewDrift[] {
  const drifts = new Map<string, NewDrift>();
  for (const event of events.filter(isMoving)) {
    const { outcome, operation } = findMintingOperation(event, orders);
    if (!outcome || operation) continue;
    const subject = outcome.operationId;
    const actual = (drifts.get(subject)?.actual ?? 0n) + event.units;
    const place = { orgId: "", walletId: "", kind: "UNEXPLAINED_MINT" as const, subject };
    drifts.set(subject, { ...place, expected: 0n, actual, blockNumber: event.log.blockNumber });
  }
  return [...drifts.values()];
}
