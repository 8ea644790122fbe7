import { MAX_NOTES_BYTES, notesBytes } from "@wonrail/kit/contract/notes";
import { type ExecuteRequest } from "@wonrail/proto/payment/v1/payment";

/** Ids, key, trace and amounts of a command. */
const REQUEST_BYTES = 1_200;
/** Ids, amounts and settlement of a record. */
const RECORD_BYTES = 1_200;

const TAKE_BACK = new Set<string>(["cancelCharge", "cancelPayment", "refundPayment"]);

/** Upper bounds of a command and of its answer. */
export function executeBytes({ command }: ExecuteRequest): { request: number; answer: number } {
  const notes = command ? notesBytes(command.value) : 0;
  // The answer has the record that is taken back, with its notes.
  const original = command && TAKE_BACK.has(command.$case) ? RECORD_BYTES + MAX_NOTES_BYTES : 0;
  return { request: REQUEST_BYTES + notes, answer: RECORD_BYTES + notes + original };
}
