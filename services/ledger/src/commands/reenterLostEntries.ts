import { type ActingOperator, recordOperatorAction } from "@wonrail/kit/admin";
import { type Id, isId } from "@wonrail/kit/contract/ids";
import { won } from "@wonrail/kit/contract/money";
import { type Database, tx } from "@wonrail/kit/db";
import { type Log } from "@wonrail/kit/log";
import { appendEvents, findLostSince } from "@wonrail/kit/outbox";
import { type ReadOwnTopic } from "@wonrail/kit/service";
import { JournalPosted } from "@wonrail/proto/ledger/events/v1/events";
import { type Entry as EntryMessage, PostRequest } from "@wonrail/proto/ledger/v1/ledger";
import { type LedgerRequest, type Origin } from "../domain/types";
import { eventsOf } from "../events";
import { type Answer, decide } from "../intents/decide";
import { entryMessage } from "../messages";
import { writeChanges } from "../store/changes";
import { findEntries } from "../store/entries";
import { createFactsCache } from "../store/factsCache";
import { findHead } from "../store/journalHeads";
import { loadState } from "../store/state";
import { clocksOf, ensureOrgs } from "./postBatch";

export interface ReenterDeps {
  db: Database;
  log: Log;
  hasSandbox: boolean;
  /** Reads a request that the ledger has posted before. */
  read: (message: PostRequest) => LedgerRequest;
  readOwnTopic: ReadOwnTopic;
}

export interface Reentered {
  /** Entries that were posted again. */
  entries: number;
  /** Entries of the topic that the journal has. */
  known: number;
  /** Organisations with entries that could not be posted again, each with the reason. */
  problems: string[];
}

const MAX_FACTS = 10_000;
/** The service's limit of the day has admitted the charges before. */
const ANY_CHARGE = won(2n ** 62n);

/**
 * After a restore of the database: posts the entries again that only Kafka has, each organisation's
 * in the order of its journal and with the time of the first posting. The rules are deterministic,
 * so an entry gets its old numbers, and the chain recognises its operation. An organisation stops at
 * its first event that would differ.
 */
export async function reenterLostEntries(deps: ReenterDeps, operator: ActingOperator): Promise<Reentered> {
  const { db, log } = deps;
  const since = await findLostSince(db);
  // Recorded first: entries are posted in many transactions.
  await tx(db, (tx) =>
    recordOperatorAction(tx, operator, { subject: "lost entries", details: { since: since.toISOString() } }),
  );
  const result: Reentered = { entries: 0, known: 0, problems: [] };
  const stopped = new Set<string>();
  await deps.readOwnTopic({
    since,
    async handle({ headers, value }) {
      const { event_type: type, event_id: eventId, org_id: orgId = "" } = headers;
      if (type !== "journal_posted" || !isId("evt", eventId) || stopped.has(orgId)) return;
      const { entries, requests } = JournalPosted.decode(value);
      const outcome = await reenter(deps, { eventId, orgId, entries, requests });
      if (outcome === "known") result.known += entries.length;
      else if (outcome === "posted") result.entries += entries.length;
      else {
        stopped.add(orgId);
        const { requestId: ledgerRef, orgSequence } = entries[0]!;
        result.problems.push(`${orgId}: ${ledgerRef}, number ${orgSequence}, ${outcome}`);
        log.error({ orgId, ledgerRef, problem: outcome }, "lost entries were not posted again");
      }
    },
  });
  return result;
}

/** An event of one organisation, as Kafka has it. */
interface LostEvent {
  eventId: Id<"evt">;
  orgId: string;
  entries: EntryMessage[];
  requests: Uint8Array[];
}

/** Posts the entries of an event again unless the journal has them. Returns the reason if it cannot. */
async function reenter(deps: ReenterDeps, event: LostEvent): Promise<string> {
  const { orgId, entries, requests } = event;
  const refs = entries.map(({ requestId }) => ({ orgId, requestId }));
  const known = await findEntries(deps.db, refs);
  if (known.length === entries.length) return "known";
  if (known.length > 0) return "the journal has a part of its event";
  const next = (await findHead(deps.db, orgId)) + 1n;
  if (entries[0]!.orgSequence !== next) return `the journal goes on with number ${next}`;
  if (requests.length !== entries.length) return "its event has no requests";
  try {
    await repost(deps, event);
    return "posted";
  } catch (error) {
    if (error instanceof EntryDiffers) return error.message;
    throw error;
  }
}

/** Rolls back entries that would differ from the lost ones. */
class EntryDiffers extends Error {
  override readonly name = "EntryDiffers";
}

/** Posts in one transaction, under the event's old id: consumers that know the event skip it. */
async function repost(deps: ReenterDeps, { eventId, entries, requests: bytes }: LostEvent): Promise<void> {
  const messages = bytes.map((request) => PostRequest.decode(request));
  const requests = messages.map((message) => deps.read(message));
  const origins = new Map(requests.map((request, index) => [request, originOf(messages[index]!)]));
  // A batch has one time.
  const nowMs = entries[0]!.postedAt!.getTime();
  await ensureOrgs({ db: deps.db, knownOrgs: new Set() }, requests);
  await tx(deps.db, async (tx) => {
    const [state, clocks] = await Promise.all([
      loadState(tx, createFactsCache(MAX_FACTS), requests, () => undefined),
      clocksOf(tx, deps, requests),
    ]);
    const { answers, changes } = decide({ ...state, nowMs, clocks, chargeRoomWon: ANY_CHARGE }, requests);
    answers.forEach((answer, index) => assertSame(answer, entries[index]!));
    writeChanges(tx, changes, { nowMs, origins });
    await appendEvents(
      tx,
      eventsOf(changes, origins).map((event) => ({ ...event, eventId })),
    );
  });
}

function originOf({ context }: PostRequest): Origin {
  const { requestId = "", traceparent = "" } = context ?? {};
  return { requestId, traceparent };
}

function assertSame({ outcome }: Answer, lost: EntryMessage): void {
  if (outcome.status === "refused")
    throw new EntryDiffers(`${lost.requestId} is refused now with ${outcome.code}`);
  const posted = entryMessage(outcome.entry);
  if (posted.orgSequence !== lost.orgSequence || linesOf(posted).join() !== linesOf(lost).join())
    throw new EntryDiffers(`the lines of ${lost.requestId} differ from the lost ones`);
}

function linesOf({ postings }: EntryMessage): string[] {
  return postings.map(({ accountId, type, amountWon, balanceAfterWon, sequence }) =>
    [accountId, type, amountWon, balanceAfterWon, sequence].join(" "),
  );
}
