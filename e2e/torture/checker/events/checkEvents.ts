import { type PublicEvent } from "../api";
import { type Entry, type EntryKind, type Journal } from "../journal/readJournal";
import { successesOf, type Operation } from "../operations";
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

/** Each change has exactly its events, and the events are numbered without gaps in each order. */
export function checkEvents(journal: Journal, events: PublicEvent[], operations: Operation[]): Violation[] {
  const { organisation, entries } = journal;
  const report = (message: string, ...ids: number[]): Violation => ({
    ...{ check: "events", organisation, message, operations: ids },
  });
  return [
    ...findGaps(events).map((message) => report(message)),
    ...compareWithEntries(entries, events).map((message) => report(message)),
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
  const expected = countOf(entries.flatMap(eventNamesOf));
  const found = countOf(
    events.filter(({ type }) => types.has(type)).map(({ type, objectId }) => `${type} of ${objectId}`),
  );
  return [...new Set([...expected.keys(), ...found.keys()])]
    .filter((name) => expected.get(name) !== found.get(name))
    .map((name) => `${found.get(name) ?? 0} events ${name}, and ${expected.get(name) ?? 0} entries`);
}

function eventNamesOf({ id, kind, originalDigits }: Entry): string[] {
  const { types = [], original } = EVENTS_OF[kind] ?? {};
  const objectId = original === undefined ? id : `${original}_${originalDigits}`;
  return types.map((type) => `${type} of ${objectId}`);
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
