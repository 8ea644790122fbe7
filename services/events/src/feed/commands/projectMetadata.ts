import { type Tx } from "@wonrail/kit/db";
import { type ReceivedEvent } from "@wonrail/kit/inbox";
import { MetadataChanged } from "@wonrail/proto/payment/events/v1/events";
import { metadataChange } from "../domain/metadata";
import { objectOfRef } from "../domain/settlements";
import { findCancelledObjects } from "../store/cancellations";
import { findChangedMetadata, saveChangedMetadata } from "../store/changedMetadata";
import { publishChanges } from "./publishChanges";

/**
 * Keeps the metadata that partners changed after a command. When the object's entry comes later, the
 * projection of the journal adds the metadata.
 */
export async function projectMetadata(_deps: object, tx: Tx, events: ReceivedEvent[]): Promise<void> {
  await publishChanges(tx, events, async () => {
    const changes = newestOf(events);
    saveChangedMetadata(tx, changes);
    const [cancelled, metadata] = await Promise.all([
      findCancelledObjects(
        tx,
        changes.map(({ orgId, objectId }) => ({ orgId, cancelId: objectId })),
      ),
      findChangedMetadata(tx, changes),
    ]);
    return changes.map(({ source, objectId: partId }) =>
      metadataChange(source, {
        objectId: objectOfRef(partId) ?? cancelled.get(partId) ?? partId,
        ...{ partId, metadata: metadata.get(partId)! },
      }),
    );
  });
}

/** An event may come again, also after a newer one. */
function newestOf(events: ReceivedEvent[]) {
  const newest = new Map<string, ReceivedEvent>();
  for (const event of events) {
    const known = newest.get(event.aggregateId);
    if (!known || known.version < event.version) newest.set(event.aggregateId, event);
  }
  return [...newest.values()].map(({ id, orgId, occurredAt, version, payload }) => ({
    ...{ orgId, version, source: { sourceId: id, orgId, occurredAt } },
    ...MetadataChanged.decode(payload),
  }));
}
