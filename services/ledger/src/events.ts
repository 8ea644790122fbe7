import type { Queryable } from "@wonrail/kit/db";
import { groupBy } from "@wonrail/kit/groupBy";
import { hexOf } from "@wonrail/kit/contract/ids";
import { formatWon } from "@wonrail/kit/contract/money";
import type { Expander, NewEvent, OutboxRow } from "@wonrail/kit/outbox";
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
import type { Account, Entry, Hold } from "./domain/types";
import { readJournalRefs, writeJournalRefs, type JournalRef, type Origin } from "./domain/journalRefs";
import { entryIdOf, kindMessage, postingMessage } from "./messages";
import { findEntries } from "./store/entries";
import type { RecentEntries } from "./store/recentEntries";

/** The way out: every event that this service publishes goes to this topic. */
const TOPIC = "wonrail.ledger.v1";
export const TOPICS = [{ name: TOPIC, partitions: 6 }];

/**
 * What the outbox holds for a batch's entries: which they are. The journal is append-only, so their journal_posted events are built from it
 * when they are published (createExpander), and the postings are not written a second time.
 */
const JOURNAL_REFS = "journal_refs";

export function eventsOf(changes: Changes, items: readonly Item[]): NewEvent[] {
  const origins = new Map(items.map(({ request, origin }) => [request, origin]));
  const posted = changes.answered.flatMap(({ request, answer: { outcome } }) =>
    outcome.status === "posted" ? [{ request, entry: outcome.entry, origin: origins.get(request)! }] : [],
  );
  const events = journalRefs(posted);
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

function journalRefs(posted: { entry: Entry; origin: Origin }[]): NewEvent[] {
  const moved = posted.filter(({ entry }) => entry.postings.length > 0);
  return [...groupBy(moved, ({ entry }) => entry.orgId)].map(([orgId, group]) => ({
    topic: TOPIC,
    type: JOURNAL_REFS,
    aggregateId: orgId,
    version: 1,
    orgId,
    payload: writeJournalRefs(group.map(({ entry, origin }) => ({ requestId: entry.requestId, origin }))),
    requestId: "",
    traceparent: "",
  }));
}

/** What this process has just committed itself need not be read back from the journal. */
export function createExpander(recent: RecentEntries): Expander {
  return {
    begin: () => recent.forgetAll(),
    expand: (connection, row) => expand(connection, row, recent),
  };
}

async function expand(connection: Queryable, row: OutboxRow, recent: RecentEntries): Promise<OutboxRow[]> {
  if (row.type !== JOURNAL_REFS) return [row];
  const found = readJournalRefs(row.payload).map((ref) => ({
    ref,
    entry: recent.take(row.org_id, ref.requestId),
  }));
  const missing = found.filter(({ entry }) => entry === undefined);
  const stored = await findEntries(
    connection,
    missing.map(({ ref: { requestId } }) => ({ orgId: row.org_id, requestId })),
  );
  const entries = new Map(
    stored.flatMap(({ answer: { outcome } }) =>
      outcome.status === "posted" ? [[hexOf(outcome.entry.requestId), outcome.entry] as const] : [],
    ),
  );
  return found.flatMap(({ ref, entry = entries.get(hexOf(ref.requestId)) }) =>
    entry ? [journalPosted(row, entry, ref)] : [],
  );
}

/** The event's id is the entry's, so that it is the same however often the row is expanded. */
function journalPosted(row: OutboxRow, entry: Entry, { origin }: JournalRef): OutboxRow {
  const message = JournalPosted.encode({
    entryId: entryIdOf(entry.requestId),
    requestId: entry.requestId,
    relatedId: entry.relatedId ?? entry.requestId,
    memo: entry.memo ?? undefined,
    postedAt: new Date(entry.postedAtMs),
    kind: kindMessage(entry.kind),
    postings: entry.postings.map(postingMessage),
  });
  return {
    ...row,
    event_id: hexOf(entry.requestId),
    type: "journal_posted",
    aggregate_id: entryIdOf(entry.requestId),
    version: 1n,
    request_id: origin.requestId,
    traceparent: origin.traceparent,
    occurred_at: new Date(entry.postedAtMs),
    payload: message.finish(),
  };
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
