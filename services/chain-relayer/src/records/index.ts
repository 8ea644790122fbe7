// Partners' recorded transactions: everything behind /api/transaction.

export { createRecord } from "./commands/createRecord";
export { finishScheduledRecords } from "./commands/finishScheduledRecords";
export { runScheduledRecords } from "./commands/runScheduledRecords";
export { setClock } from "./commands/testClock";
export { updateRecordMetadata } from "./commands/updateRecordMetadata";
export { updateRecordSchedule } from "./commands/updateRecordSchedule";
export { updateRecordStatus } from "./commands/updateRecordStatus";
export { watchInstantRecords } from "./commands/watchInstantRecords";
export { isUnits } from "./domain/record";
export { recordMessage } from "./messages";
export { getRecord } from "./queries/getRecord";
export { listRecords } from "./queries/listRecords";
export { createScheduledMetrics, type ScheduledMetrics } from "./scheduledMetrics";
export {
  findOldestDueSeconds,
  findRecords,
  findRecordWork,
  FIRST_SENT_PLACE,
  type RequestKey,
} from "./store/records";
