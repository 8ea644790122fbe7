import { type Tx } from "@wonrail/kit/db";
import { IntentKind } from "@wonrail/proto/ledger/v1/intents";
import { type Entry as LedgerEntry } from "@wonrail/proto/ledger/v1/ledger";
import { isWallet, type Line, operationIdOf, operationIdOfHold, stepOfHold, stepsOf } from "../domain/steps";
import { type Place } from "../domain/planning";
import { insertOperations, type NewOperation } from "../store/operations";
import { holdHeads } from "../store/places";
import { saveWalletAddresses, type WalletAddress } from "../../indexer";
import { assertAmount, readAccount, readMoved, readOrganisation, readWallet } from "./readForm";

/** Whose request it was, for logs and events. */
export interface Origin {
  orgId: string;
  requestId: string;
  traceparent: string;
}

type Entry = Pick<LedgerEntry, "requestId" | "relatedId" | "kind" | "postings">;

/** Takes in ledger entries. What is on the chain already has no steps, but its place in the order. */
export async function ingestEntries(
  tx: Tx,
  entries: { origin: Origin; entry: Entry; since?: Date }[],
): Promise<void> {
  const operations = entries.map(({ origin, entry, since }) => ({
    ...operationOfEntry(origin, entry),
    ...(since && { since }),
  }));
  insertOperations(tx, operations, await holdHeads(tx));
}

/** Takes in money that is to leave to an outside address. It can go once everything before the hold has gone. */
export async function ingestHold(tx: Tx, origin: Origin, entry: LedgerEntry): Promise<void> {
  if (entry.result?.$case !== "hold") return;
  const hold = entry.result.value;
  const { holdRequestId } = hold;
  const [walletId, toAddress] = [readWallet(hold.walletId), readAccount(hold.toAddress)];
  const amountWon = assertAmount(readMoved(hold.amountWon));
  const step = stepOfHold({ holdRequestId, walletId, toAddress, amountWon });
  const operation = {
    ...namesOf(origin),
    ledgerRef: holdRequestId,
    relatedId: entry.relatedId,
    kind: IntentKind.PLACE_HOLD,
    operationId: operationIdOfHold(holdRequestId),
    steps: [step],
    places: [{ accountId: walletId, atSequence: hold.sequence + 1n, movesTo: null }],
  };
  insertOperations(tx, [operation], await holdHeads(tx));
}

/** So that the comparison of the books covers wallets to which nothing has happened yet. */
export async function ingestWallet(tx: Tx, { walletId, orgId, address }: WalletAddress): Promise<void> {
  const wallet = { walletId: readWallet(walletId), orgId: readOrganisation(orgId) };
  await saveWalletAddresses(tx, [{ ...wallet, address: readAccount(address) }]);
}

function operationOfEntry(origin: Origin, entry: Entry): NewOperation {
  const lines = entry.postings.map(({ accountId, amountWon, sequence }): Line => ({
    accountId: isWallet(accountId) ? readWallet(accountId) : accountId,
    amountWon: readMoved(amountWon),
    sequence,
  }));
  const onChain = entry.kind === IntentKind.CREDIT_EXTERNAL || entry.kind === IntentKind.POST_HOLD;
  const steps = onChain ? [] : stepsOf(lines);
  for (const { amountWon } of steps) assertAmount(amountWon);
  return {
    ...namesOf(origin),
    ledgerRef: entry.requestId,
    relatedId: entry.relatedId,
    kind: entry.kind,
    operationId: operationIdOf(lines),
    steps,
    places: placesOf(lines),
  };
}

function namesOf({ orgId, requestId, traceparent }: Origin): Origin {
  return { orgId: readOrganisation(orgId), requestId, traceparent };
}

/** An entry's lines on one wallet follow each other without a gap. The organisation's own accounts need no order: minting is free. */
function placesOf(lines: Line[]): Place[] {
  const places = new Map<string, { accountId: string; atSequence: bigint; movesTo: bigint }>();
  for (const { accountId, sequence } of lines) {
    if (!isWallet(accountId)) continue;
    const known = places.get(accountId);
    if (!known) places.set(accountId, { accountId, atSequence: sequence, movesTo: sequence + 1n });
    else {
      if (sequence < known.atSequence) known.atSequence = sequence;
      if (sequence >= known.movesTo) known.movesTo = sequence + 1n;
    }
  }
  return [...places.values()];
}
