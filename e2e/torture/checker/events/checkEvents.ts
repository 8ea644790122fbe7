import { type PublicEvent, type PublicReads } from "../api";
import { type Settlement } from "../chain/readSettlements";
import { type Entry, type EntryKind, type Journal } from "../journal/readJournal";
import { successesOf, type Json, type Operation } from "../operations";
import { type Violation } from "../violation";

/** The events that an entry makes: their types, and the prefix of the object when it is not the entry itself. */
const EVENTS_OF: Partial<Record<EntryKind, { types: string[]; original?: string }>> = {
  charge: { types: ["charge.created"] },
  cancelCharge: { types: ["charge.cancelled"], original: "chg" },
  refund: { types: ["refund.created"] },
  transfer: { types: ["transfer.created", "transfer.completed"] },
  placeHold: { types: ["transfer.created"] },
  postHold: { types: ["transfer.completed"], original: "trf" },
  voidHold: { types: ["transfer.failed"], original: "trf" },
  payment: { types: ["payment.created"] },
  cancelPayment: { types: ["payment.cancelled"], original: "pay" },
  refundPayment: { types: ["payment.refunded"], original: "pay" },
  creditExternal: { types: ["deposit.credited"] },
};

const EVENT_OF_END: Record<string, string> = {
  CONFIRMED: "settlement.confirmed",
  FAILED: "settlement.failed",
};

/** An organisation's changes, and what the public API answers about them. */
export interface EventFacts {
  journal: Journal;
  settlements: Pick<Settlement, "ledgerRef" | "state">[];
  reads: Pick<PublicReads, "events" | "lists">;
  operations: Operation[];
}

/** Each change has exactly its events, and the events are numbered without gaps in each order. */
export function checkEvents({ journal, settlements, reads, operations }: EventFacts): Violation[] {
  const { organisation, entries } = journal;
  const { events, lists } = reads;
  const report = (message: string, ...ids: number[]): Violation => ({
    ...{ check: "events", organisation, message, operations: ids },
  });
  return [
    ...findGaps(events).map((message) => report(message)),
    ...compareWithEntries(entries, events).map((message) => report(message)),
    ...compareWithSettlements(settlements, entries, events).map((message) => report(message)),
    ...compareWithRecords(lists["/api/transaction"] ?? [], events).map((message) => report(message)),
    ...findUnannounced(operations, events).map(([message, id]) => report(message, id)),
  ];
}

function findGaps(events: PublicEvent[]): string[] {
  const problems: string[] = [];
  const objects = new Map<string, number>();
  const ids = new Set<string>();
  events.forEach(({ eventId, sequence, objectId, objectSequence }, index) => {
    if (sequence !== index + 1)
      problems.push(`event ${eventId} has the sequence ${sequence}, not ${index + 1}`);
    const expected = (objects.get(objectId) ?? 0) + 1;
    if (objectSequence !== expected)
      problems.push(`event ${eventId} is number ${objectSequence} of ${objectId}, not ${expected}`);
    objects.set(objectId, objectSequence);
    if (ids.has(eventId)) problems.push(`event ${eventId} is listed twice`);
    ids.add(eventId);
  });
  return problems;
}

function compareWithEntries(entries: Entry[], events: PublicEvent[]): string[] {
  const types = new Set(Object.values(EVENTS_OF).flatMap(({ types }) => types));
  return compareCounts("entries", entries.flatMap(eventNamesOf), namesOf(events, types));
}

/** The end of a settlement is an event of the object that its entry belongs to. */
function compareWithSettlements(
  settlements: EventFacts["settlements"],
  entries: Entry[],
  events: PublicEvent[],
): string[] {
  const objects = new Map(entries.map((entry) => [entry.id, objectIdOf(entry)]));
  const expected = settlements
    .filter(({ state }) => state in EVENT_OF_END)
    .map(({ state, ledgerRef }) => `${EVENT_OF_END[state]} of ${objects.get(ledgerRef) ?? ledgerRef}`);
  return compareCounts("settlements", expected, namesOf(events, new Set(Object.values(EVENT_OF_END))));
}

function compareWithRecords(records: Json[], events: PublicEvent[]): string[] {
  const published = new Map(
    events
      .filter(({ type }) => type === "transaction.status_changed")
      .map(({ objectId, data }) => [objectId, data.status]),
  );
  return records
    .filter(({ id, status }) => (published.get(id) ?? "PENDING") !== status)
    .map(({ id, status }) => `${id} is ${status}, and its last event says ${published.get(id) ?? "nothing"}`);
}

function namesOf(events: PublicEvent[], types: ReadonlySet<string>): string[] {
  return events.filter(({ type }) => types.has(type)).map(({ type, objectId }) => `${type} of ${objectId}`);
}

function compareCounts(what: string, expectedNames: string[], foundNames: string[]): string[] {
  const [expected, found] = [countOf(expectedNames), countOf(foundNames)];
  return [...new Set([...expected.keys(), ...found.keys()])]
    .filter((name) => expected.get(name) !== found.get(name))
    .map((name) => `${found.get(name) ?? 0} events ${name}, and ${expected.get(name) ?? 0} ${what}`);
}

function eventNamesOf(entry: Entry): string[] {
  const { types = [] } = EVENTS_OF[entry.kind] ?? {};
  return types.map((type) => `${type} of ${objectIdOf(entry)}`);
}

/** The object that the entry makes, or changes. */
function objectIdOf({ id, kind, originalDigits }: Entry): string {
  const { original } = EVENTS_OF[kind] ?? {};
  return original === undefined ? id : `${original}_${originalDigits}`;
}

function countOf(names: string[]): Map<string, number> {
  const counts = new Map<string, number>();
  for (const name of names) counts.set(name, (counts.get(name) ?? 0) + 1);
  return counts;
}

/** Acknowledged objects that are not in the ledger. */
function findUnannounced(
  operations: Operation[],
  events: PublicEvent[],
): [message: string, operation: number][] {
  const names = new Set(events.map(({ type, objectId }) => `${type} of ${objectId}`));
  const expected = [
    ...successesOf(operations, "wallet.create").map(
      ({ operation, data }) => [operation, `wallet.created of ${data.walletId}`] as const,
    ),
    ...successesOf(operations, "wallet.deactivate").map(
      ({ operation, data }) => [operation, `wallet.deactivated of ${data.walletId}`] as const,
    ),
    ...successesOf(operations, "key.create").map(
      ({ operation, data }) => [operation, `api_key.issued of ${data.keyId}`] as const,
    ),
    ...successesOf(operations, "record.status")
      .filter(({ data }) => data.status !== "PENDING")
      .map(({ operation, data }) => [operation, `transaction.status_changed of ${data.id}`] as const),
  ];
  return expected
    .filter(([, name]) => !names.has(name))
    .map(([operation, name]) => [
      `${operation.name} was acknowledged without an event ${name}`,
      operation.id,
    ]);
}
