import { chunksOf } from "@wonrail/kit/chunksOf";
import { groupBy } from "@wonrail/kit/groupBy";
import type { NewEvent } from "@wonrail/kit/outbox";
import { JournalPosted } from "@wonrail/proto/ledger/events/v1/events";
import type { Changes } from "./domain/book";
import type { Entry, LedgerRequest, Origin } from "./domain/types";
import { entryMessage } from "./messages";

/** The way out: every event of this service goes to this topic. */
const TOPIC = "wonrail.ledger.v1";
export const TOPICS = [{ name: TOPIC, partitions: 6 }];

/** Bounds the size of an event: twenty of the largest entries stay below Kafka's limit. */
const ENTRIES_PER_EVENT = 20;

/**
 * Makes few events of a batch, because each event costs rows in every inbox: an organisation's entries
 * go together, in their order.
 */
export function eventsOf(changes: Changes, origins: ReadonlyMap<LedgerRequest, Origin>): NewEvent[] {
  if (changes.heads.size === 0) return [];
  const posted = changes.answered.flatMap(({ request, answer: { outcome } }) =>
    outcome.status === "posted" ? [{ entry: outcome.entry, request, origin: origins.get(request)! }] : [],
  );
  return [...groupBy(posted, ({ entry }) => entry.orgId).values()].flatMap((ofOrganisation) =>
    chunksOf(ofOrganisation, ENTRIES_PER_EVENT).map(journalPosted),
  );
}

interface Posted {
  entry: Entry;
  request: LedgerRequest;
  origin: Origin;
}

function journalPosted(posted: Posted[]): NewEvent {
  const { orgId, orgSequence } = posted.at(-1)!.entry;
  const { requestId, traceparent } = posted[0]!.origin;
  const entries = posted.map(({ entry }) => entryMessage(entry));
  const requests = posted.map(({ request }) => Buffer.from(request.encode?.() ?? []));
  return {
    topic: TOPIC,
    type: "journal_posted",
    aggregateId: orgId,
    version: orgSequence,
    orgId,
    requestId,
    traceparent,
    payload: JournalPosted.encode({ entries, requests }).finish(),
  };
}
