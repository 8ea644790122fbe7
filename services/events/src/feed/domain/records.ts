import { requirePresent, recordedTransactionJson, transactionChangeJson } from "@wonrail/kit/records";
import { type RecordChanged } from "@wonrail/proto/relayer/events/v1/events";
import { type Change, type ObjectData, type ObjectState } from "./change";

/** A read of a record answers its newest changes. */
const MAX_HISTORY = 100;

type Source = Pick<Change, "orgId" | "sourceId" | "occurredAt">;

/** A recorded transaction that was made or changed. The event tells of another status only. */
export function recordChanged(source: Source, message: RecordChanged): Change {
  const record = requirePresent(message.record);
  const data = recordedTransactionJson(record);
  return {
    ...source,
    objectId: record.id,
    types: (before: ObjectState | undefined) =>
      data.status === (before?.data.status ?? "PENDING") ? [] : ["transaction.status_changed"],
    apply: (current) => {
      const history = (current?.data.history as ObjectData[] | undefined) ?? [];
      const newChanges = record.history.map(transactionChangeJson);
      return {
        data: { ...data, history: [...history, ...newChanges].slice(-MAX_HISTORY) },
        failureReason: null,
      };
    },
  };
}
