import { ZERO_ADDRESS } from "@wonrail/kit/contract/address";
import { type Tx } from "@wonrail/kit/db";
import { newId } from "@wonrail/kit/contract/ids";
import { type ChainEvent, placeOf } from "../../evm/contracts";
import { bookingOf, type TransferKind, transferKindOf } from "../domain/deposits";
import { findHoldLegs, insertDeposits, type NewDeposit } from "../store/deposits";
import { type NewDrift, saveDrifts } from "../../reconciliation/store/drifts";
import { type Operation } from "../../settlement/store/operations";
import { addMovements, type Movement, SUPPLY } from "../../reconciliation/store/settledBalances";
import { findLegs, type Leg } from "../../indexer/store/usedAuthorizations";
import { type WalletAddress } from "../../indexer/store/walletAddresses";
import { isOutcome } from "../../settlement/commands/applyOutcomes";
import { type FinalRange } from "../../indexer/commands/scanFinalized";

type TransferEvent = Extract<ChainEvent, { kind: "transfer" }>;

/**
 * Takes in what a run of final blocks did to our wallets: every change of a balance, and as deposits those that nobody here has ordered. A range may be
 * read again; each log counts once.
 */
export async function applyDeposits(
  tx: Tx,
  range: FinalRange,
  operations: ReadonlyMap<string, Operation>,
): Promise<void> {
  const known = await readKnown(tx, range, operations);
  // A transfer of nothing is no deposit, and anybody can send one in anybody's name.
  const transfers = range.events.filter(
    (event): event is TransferEvent => event.kind === "transfer" && event.units > 0n,
  );
  await addMovements(
    tx,
    transfers.flatMap((event) => movementsOf(event, known)),
  );
  await insertDeposits(
    tx,
    transfers.flatMap((event) => depositOf(event, known) ?? []),
  );
  await saveDrifts(tx, unknownOperations(range, known));
}

interface Known {
  owners: FinalRange["owners"];
  /** The leg of ours that a transfer belongs to, by the place of its log. */
  legs: Map<string, Leg & { kind: "entry" | "hold" }>;
  /** Of each transaction, what our payment manager said, in order. */
  outcomes: Map<string, { logIndex: number; operationId: string }[]>;
  operations: ReadonlyMap<string, Operation>;
}

async function readKnown(
  tx: Tx,
  { events, owners }: FinalRange,
  operations: ReadonlyMap<string, Operation>,
): Promise<Known> {
  const used = events.flatMap((event) => {
    const owner = event.kind === "used" ? owners.get(event.authorizer) : undefined;
    return event.kind === "used" && owner
      ? [{ event, fromWalletId: owner.walletId, nonce: event.nonce }]
      : [];
  });
  const found = await findLegs(tx, used);
  const holds = await findHoldLegs(tx, [...found.values()]);
  const legs: Known["legs"] = new Map();
  for (const { event, fromWalletId, nonce } of used) {
    const key = `${fromWalletId}|${nonce}`;
    const leg = found.get(key);
    // The token says who authorized right before it says what moved.
    const place = placeOf(event, 1);
    if (leg) legs.set(place, { ...leg, kind: holds.has(key) ? "hold" : "entry" });
  }
  const outcomes: Known["outcomes"] = new Map();
  for (const event of events) {
    if (!isOutcome(event)) continue;
    const { txHash, logIndex } = event.log;
    const said = { logIndex, operationId: event.operationId };
    const known = outcomes.get(txHash);
    if (known) known.push(said);
    else outcomes.set(txHash, [said]);
  }
  return { owners, legs, outcomes, operations };
}

function movementsOf(event: TransferEvent, known: Known): Movement[] {
  const { from, to, units, log } = event;
  const of = { txHash: log.txHash, logIndex: log.logIndex };
  const payer = known.owners.get(from);
  const payee = known.owners.get(to);
  const movements: Movement[] = [];
  if (payer && payer !== payee)
    movements.push({ ...of, accountId: payer.walletId, orgId: payer.orgId, units: -units });
  if (payee && payer !== payee)
    movements.push({ ...of, accountId: payee.walletId, orgId: payee.orgId, units });
  if (from === ZERO_ADDRESS || to === ZERO_ADDRESS) {
    const change = from === ZERO_ADDRESS ? units : -units;
    movements.push({ ...of, accountId: SUPPLY, orgId: orderedBy(event, known) ?? "", units: change });
  }
  return movements;
}

/** The organisation whose operation minted or burned. */
function orderedBy(event: TransferEvent, known: Known): string | undefined {
  return known.legs.get(placeOf(event))?.orgId ?? operationOf(event, known).operation?.orgId;
}

function depositOf(event: TransferEvent, known: Known): NewDeposit | null {
  const { from, to, units, log } = event;
  const payee = known.owners.get(to);
  if (!payee || from === to || kindOf(event, known, known.owners.get(from)) !== "deposit") return null;
  const { txHash, logIndex, blockNumber, blockHash } = log;
  const { orgId, walletId } = payee;
  const ledgerRef = newId("opn");
  const place = { txHash, logIndex, blockNumber, blockHash };
  return { ...place, orgId, walletId, fromAddress: from, units, ledgerRef, ...bookingOf(units) };
}

function kindOf(event: TransferEvent, known: Known, payer: WalletAddress | undefined): TransferKind {
  const { outcome, operation } = operationOf(event, known);
  const said = operation ? "known" : "unknown";
  return transferKindOf({
    fromOurs: payer !== undefined,
    fromNobody: event.from === ZERO_ADDRESS,
    leg: known.legs.get(placeOf(event))?.kind ?? null,
    operation: outcome ? said : null,
  });
}

/** Our payment manager speaks after each operation: a mint before its word is that operation's. */
function operationOf({ from, log }: TransferEvent, { outcomes, operations }: Known) {
  if (from !== ZERO_ADDRESS) return {};
  const outcome = outcomes.get(log.txHash)?.find(({ logIndex }) => logIndex > log.logIndex);
  return { outcome, operation: outcome && operations.get(outcome.operationId) };
}

/** Our payment manager did something that we did not order: another copy of this system has its key, or this database is older than the chain. */
function unknownOperations({ events }: FinalRange, { operations }: Known): NewDrift[] {
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
