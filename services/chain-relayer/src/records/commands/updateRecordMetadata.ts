import { DomainError } from "@wonrail/kit/contract/errors";
import { changeMetadata, isSameMetadata, type MetadataChange } from "@wonrail/kit/contract/notes";
import { tx } from "@wonrail/kit/db";
import { appendEvents } from "@wonrail/kit/outbox";
import { type TransactionRecord } from "../domain/record";
import { recordChanged } from "../events";
import { lockRecord, type RecordKey, saveRecordMetadata } from "../store/records";
import { type RecordDeps } from "./createRecord";

/** Changes the metadata in any state of the record. The row's lock serialises changes of the record. */
export function updateRecordMetadata(
  { db, now }: Pick<RecordDeps, "db" | "now">,
  { set, remove, ...key }: RecordKey & MetadataChange,
): Promise<TransactionRecord> {
  return tx(db, async (tx) => {
    const record = await lockRecord(tx, key);
    if (!record) throw new DomainError("TX_001");
    const before = record.changedMetadata ?? record.metadata;
    const changedMetadata = changeMetadata(before, { set, remove });
    if (isSameMetadata(before, changedMetadata)) return record;
    const updatedAt = new Date(Math.max(now(), record.updatedAt.getTime()));
    const changed = { ...record, changedMetadata, version: record.version + 1n, updatedAt };
    await saveRecordMetadata(tx, changed);
    await appendEvents(tx, [recordChanged(changed, null)]);
    return changed;
  });
}
