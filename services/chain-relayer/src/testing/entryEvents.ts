import { newId } from "@wonrail/kit/contract/ids";
import { type ReceivedEvent } from "@wonrail/kit/inbox";
import { JournalPosted } from "@wonrail/proto/ledger/events/v1/events";
import { type Backlog, type ReceivedEntry } from "../settlement/commands/receiveEntries";
import { IntentKind, TransactionType } from "@wonrail/proto/ledger/v1/intents";

/** A wallet's line of an entry. */
export type LineOf = [walletId: string, amountWon: bigint, sequence: bigint];

let issued = 0n;

/** What the bus brings of an entry with these lines; what they leave over is the organisation's own. */
export function entryEvent(orgId: string, requestId: string, ...lines: LineOf[]): ReceivedEvent {
  const left = lines.reduce((sum, [, amountWon]) => sum - amountWon, 0n);
  const all: LineOf[] = left === 0n ? lines : [...lines, ["acc_issuance", left, (issued += 1n)]];
  const postings = all.map(([accountId, amountWon, sequence]) => ({
    ...{ accountId, amountWon: amountWon.toString(), sequence },
    ...{ type: TransactionType.UNSPECIFIED, balanceAfterWon: "0" },
  }));
  const names = {
    entryId: newId("opn"),
    requestId,
    relatedId: requestId,
    orgSequence: 1n,
    metadata: {},
  };
  const entry = { ...names, kind: IntentKind.PAYMENT, postings, balances: [], result: undefined };
  const payload = JournalPosted.encode({ entry }).finish();
  return {
    ...{ id: newId("evt"), type: "journal_posted", topic: "wonrail.ledger.v1" },
    ...{ aggregateId: requestId, version: 1n, occurredAt: new Date("2026-03-01T00:00:00Z") },
    ...{ orgId, traceparent: "", requestId: newId("req"), payload: Buffer.from(payload) },
  };
}

/** As the consumer gives it on. */
export function received(event: ReceivedEvent): ReceivedEntry {
  return { origin: event, entry: JournalPosted.decode(event.payload).entry! };
}

/** Everybody's entries go on the shelf. */
export const LONG_BACKLOG: Backlog = { look: () => Promise.resolve(() => true) };
