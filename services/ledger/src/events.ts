import type { NewEvent } from "@wonrail/kit/outbox";
import { JournalPosted } from "@wonrail/proto/ledger/events/v1/events";
import type { Item, Origin } from "./commands/postBatch";
import type { Changes } from "./domain/book";
import type { Entry } from "./domain/types";
import { entryMessage } from "./messages";

/** The way out: every event of this service goes to this topic. */
const TOPIC = "wonrail.ledger.v1";
export const TOPICS = [{ name: TOPIC, partitions: 6 }];

/** Makes an event of each posted entry, in the order of the organisation's entries. */
export function eventsOf(changes: Changes, items: readonly Item[]): NewEvent[] {
  if (changes.heads.size === 0) return [];
  const origins = new Map(items.map(({ request, origin }) => [request, origin]));
  return changes.answered.flatMap(({ request, answer: { outcome } }) =>
    outcome.status === "posted" ? journalPosted(outcome.entry, origins.get(request)!) : [],
  );
}

function journalPosted(entry: Entry, { requestId, traceparent }: Origin): NewEvent {
  const { orgId, orgSequence } = entry;
  return {
    topic: TOPIC,
    type: "journal_posted",
    aggregateId: orgId,
    version: orgSequence,
    orgId,
    requestId,
    traceparent,
    payload: JournalPosted.encode({ entry: entryMessage(entry) }).finish(),
  };
}
