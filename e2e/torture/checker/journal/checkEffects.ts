import { moneyCallOf, MONEY_CALLS } from "../moneyCalls";
import { isSuccess, successesOf, type Operation } from "../operations";
import { type Violation } from "../violation";
import { type Entry, type Journal, type StoredKey } from "./readJournal";

const ASKED_KINDS = Object.values(MONEY_CALLS).flatMap(({ kinds }) => kinds as string[]);

/** Links the operations of a history with the entries that the ledger made of them. */
export interface Links {
  entryOf(operation: Operation): Entry | undefined;
  operationOf(entryId: string): Operation | undefined;
}

/** The ledger stores which request a key belongs to. A request with another body (REQ_003) has no entry. */
export function linkEntries(journals: Journal[], operations: Operation[]): Links {
  const entries = new Map(journals.flatMap((journal) => journal.entries.map((entry) => [entry.id, entry])));
  const requests = new Map(
    journals.flatMap(({ organisation, keys }) =>
      keys.map((stored) => [nameOf(organisation, stored), stored.requestId] as const),
    ),
  );
  const entryOf = ({ organisation, name, key, outcome }: Operation): Entry | undefined => {
    const call = moneyCallOf(name);
    if (!call || key === undefined || outcome?.error?.code === "REQ_003") return undefined;
    return entries.get(requests.get(nameOf(organisation, { scope: call.scope, key })) ?? "");
  };
  const byEntry = new Map<string, Operation>();
  for (const operation of operations) {
    const entry = entryOf(operation);
    if (entry) byEntry.set(entry.id, operation);
  }
  return { entryOf, operationOf: (id) => byEntry.get(id) };
}

function nameOf(organisation: string, { scope, key }: Pick<StoredKey, "scope" | "key">): string {
  return JSON.stringify([organisation, scope, key]);
}

/** Every success has its entry, every refusal has none, and every entry was asked for once. */
export function checkEffects(journals: Journal[], operations: Operation[], links: Links): Violation[] {
  return [
    ...operations.flatMap((operation) => checkOutcome(operation, links)),
    ...journals.flatMap((journal) => findUnaskedEntries(journal, operations, links)),
  ];
}

function checkOutcome(operation: Operation, { entryOf }: Links): Violation[] {
  const { id, organisation, name, outcome } = operation;
  const call = moneyCallOf(name);
  if (!call || !outcome || outcome.error?.code === "REQ_003") return [];
  const report = (message: string) => [{ check: "effects", organisation, message, operations: [id] }];
  const entry = entryOf(operation);
  if (!isSuccess(outcome)) {
    return entry ? report(`${name} was refused with ${outcome.error?.code}, but made ${entry.id}`) : [];
  }
  const answeredId: string = outcome.data[call.id];
  if (!entry) return report(`${answeredId} was acknowledged, but the ledger has no entry for its key`);
  if (entry.id !== answeredId) return report(`the answer names ${answeredId}, the ledger ${entry.id}`);
  return (call.kinds as string[]).includes(entry.kind) ? [] : report(`${entry.id} is a ${entry.kind}`);
}

/** An entry that belongs to no call is a second effect of some call. */
function findUnaskedEntries(journal: Journal, operations: Operation[], { operationOf }: Links): Violation[] {
  const { organisation, entries, keys } = journal;
  const records = new Set(successesOf(operations, "record.create").map(({ data }) => data.id));
  const scheduled = new Set(
    keys
      .filter(({ scope, key }) => scope === "SCHEDULED" && records.has(key))
      .map(({ requestId }) => requestId),
  );
  return entries
    .filter(({ id, kind }) => ASKED_KINDS.includes(kind) && !operationOf(id) && !scheduled.has(id))
    .map(({ id, kind }) => {
      const message = `the ledger has the ${kind} ${id}, which no call of the history asked for`;
      return { check: "effects", organisation, message, operations: [] };
    });
}
