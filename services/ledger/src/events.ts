import { formatWon } from "@wonrail/kit/contract/money";
import type { NewEvent } from "@wonrail/kit/outbox";
import {
  AccountClosed,
  AccountOpened,
  AccountReopened,
  HoldPlaced,
  JournalPosted,
} from "@wonrail/proto/ledger/events/v1/events";
import { AccountType } from "@wonrail/proto/ledger/v1/intents";
import type { Item } from "./commands/postBatch";
import type { Changes, Turn } from "./domain/book";
import type { Account, Entry, Hold, Origin } from "./domain/types";
import { entryIdOf, kindMessage, postingMessage } from "./messages";

/** The way out: every event that this service publishes goes to this topic. */
const TOPIC = "wonrail.ledger.v1";
export const TOPICS = [{ name: TOPIC, partitions: 6 }];

export function eventsOf(changes: Changes, items: readonly Item[]): NewEvent[] {
  const origins = new Map(items.map(({ request, origin }) => [request, origin]));
  const posted = changes.answered.flatMap(({ request, answer: { outcome } }) =>
    outcome.status === "posted" ? [{ request, entry: outcome.entry, origin: origins.get(request)! }] : [],
  );
  const moved = posted.filter(({ entry }) => entry.postings.length > 0);
  const events = moved.map(journalPosted);
  const turns = [...changes.closed, ...changes.reopened];
  if (changes.opened.length === 0 && turns.length === 0 && changes.holds.size === 0) return events;

  // Each is told of once: another request to open the same wallet changed nothing.
  const justOpened = new Map(changes.opened.map((account) => [account.id, account]));
  const turnedBy = new Map(turns.map((turn) => [turn.request, turn]));
  const holds = new Map([...changes.holds].map((hold) => [hold.requestId, hold]));
  for (const { request, entry, origin } of posted) {
    const id = entry.balances[0]?.accountId ?? "";
    const [toOpen, turn] = [justOpened.get(id), turnedBy.get(request)];
    const hold = holds.get(entry.requestId);
    if (entry.kind === "openAccount" && toOpen) {
      events.push({ ...opened(toOpen), ...origin });
      justOpened.delete(id);
    }
    if (turn) events.push({ ...turned(turn, new Date(entry.postedAtMs)), ...origin });
    if (entry.kind === "placeHold" && hold) events.push({ ...holdPlaced(entry, hold), ...origin });
  }
  return events;
}

/** The event of an entry that moves money. The organisation's entries share a partition of the feed. */
function journalPosted({ entry, origin }: { entry: Entry; origin: Origin }): NewEvent {
  const payload = JournalPosted.encode({
    entryId: entryIdOf(entry.requestId),
    requestId: entry.requestId,
    relatedId: entry.relatedId ?? entry.requestId,
    memo: entry.memo ?? undefined,
    postedAt: new Date(entry.postedAtMs),
    kind: kindMessage(entry.kind),
    postings: entry.postings.map(postingMessage),
  }).finish();
  const { orgId } = entry;
  return { topic: TOPIC, type: "journal_posted", aggregateId: orgId, version: 1, orgId, payload, ...origin };
}

function opened(account: Account): NewEvent {
  const payload = AccountOpened.encode({
    accountId: account.id,
    userId: account.userId!,
    type: AccountType[account.type],
    openedAt: new Date(account.openedAtMs),
  }).finish();
  return accountEvent("account_opened", account, 1, payload);
}

function turned({ request, account, version }: Turn, at: Date): NewEvent {
  const accountId = account.id;
  if (request.intent.kind === "closeAccount") {
    const payload = AccountClosed.encode({ accountId, closedAt: at }).finish();
    return accountEvent("account_closed", account, version, payload);
  }
  const payload = AccountReopened.encode({ accountId, reopenedAt: at }).finish();
  return accountEvent("account_reopened", account, version, payload);
}

function accountEvent(type: string, { id, orgId }: Account, version: number, payload: Uint8Array): NewEvent {
  return { topic: TOPIC, type, aggregateId: id, version, orgId, payload };
}

function holdPlaced(entry: Entry, hold: Hold): NewEvent {
  const payload = HoldPlaced.encode({
    holdRequestId: hold.requestId,
    relatedId: entry.relatedId ?? hold.requestId,
    walletId: hold.accountId,
    toAddress: hold.toAddress,
    amountWon: formatWon(hold.amountWon),
    sequence: entry.balances[0]!.sequence,
    placedAt: new Date(entry.postedAtMs),
  }).finish();
  const { requestId, orgId } = hold;
  return { topic: TOPIC, type: "hold_placed", aggregateId: requestId, version: 1, orgId, payload };
}
