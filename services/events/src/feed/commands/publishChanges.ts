import { siblingId } from "@wonrail/kit/contract/ids";
import { afterCommit, type Tx } from "@wonrail/kit/db";
import { failpoint } from "@wonrail/kit/failpoint";
import { ring } from "../bell";
import { type Change, type SettlementNews } from "../domain/change";
import { settlementChange } from "../domain/settlements";
import {
  deleteEarlySettlements,
  findEarlySettlements,
  refKeyOf,
  saveEarlySettlements,
} from "../store/earlySettlements";
import { insertEvents, type NewEvent } from "../store/events";
import { findObjects, keyOf, saveObjects, type StoredObject } from "../store/objects";
import { lockOrganisations, saveSequences } from "../store/organisations";

/**
 * Applies changes to their objects and appends the public events, all in the caller's transaction. The lock of the
 * organisation's row gives its events one order without gaps. `findChanges` runs under the lock, so what it reads is current.
 */
export async function publishChanges(
  tx: Tx,
  owners: readonly { orgId: string }[],
  findChanges: () => Change[] | Promise<Change[]>,
): Promise<void> {
  const orgIds = [...new Set(owners.map(({ orgId }) => orgId))];
  const sequences = await lockOrganisations(tx, orgIds);
  const changes = await findChanges();
  if (changes.length === 0) return;
  const [objects, early] = await Promise.all([findObjects(tx, changes), findEarlySettlements(tx, changes)]);
  const run = createRun(sequences, objects);
  for (const change of changes) {
    run.apply(change);
    for (const news of early.get(refKeyOf(change)) ?? []) run.apply(settlementChange(news, change.objectId));
  }
  saveObjects(tx, [...run.touched.values()]);
  insertEvents(tx, run.events);
  saveSequences(tx, sequences);
  deleteEarlySettlements(tx, [...early.values()].flat());
  saveEarlySettlements(tx, run.waiting);
  await failpoint("events.publishing");
  if (run.events.length > 0) afterCommit(tx, (db) => ring(db, orgIds));
}

/** Applies one change after the other. `sequences` and `objects` follow. */
function createRun(sequences: Map<string, bigint>, objects: Map<string, StoredObject>) {
  const touched = new Map<string, StoredObject>();
  const events: NewEvent[] = [];
  const waiting: SettlementNews[] = [];

  function apply(change: Change): void {
    const key = keyOf(change);
    const before = objects.get(key);
    const state = change.apply(before?.state);
    if (!state) {
      if (change.settlement) waiting.push(change.settlement);
      return;
    }
    const { orgId, objectId } = change;
    const object = { orgId, objectId, sequence: before?.sequence ?? 0n, state };
    const types = typeof change.types === "function" ? change.types(before?.state) : change.types;
    for (const type of types) {
      object.sequence += 1n;
      events.push({ ...eventOf(change, type, object), sequence: nextSequence(orgId) });
    }
    objects.set(key, object);
    touched.set(key, object);
  }

  function nextSequence(orgId: string): bigint {
    const next = sequences.get(orgId)! + 1n;
    sequences.set(orgId, next);
    return next;
  }

  return { apply, touched, events, waiting };
}

function eventOf(
  { sourceId, occurredAt, ledgerRef, settlement }: Change,
  type: NewEvent["type"],
  { orgId, objectId, sequence, state }: StoredObject,
): Omit<NewEvent, "sequence"> {
  // An event of a service can have several entries of the object.
  const part = settlement?.ledgerRef ?? ledgerRef ?? objectId;
  return {
    ...{ orgId, type, objectId, objectSequence: sequence, createdAt: occurredAt },
    eventId: siblingId("evt", sourceId, `${part} ${type}`),
    dataJson: JSON.stringify(state.data),
  };
}
