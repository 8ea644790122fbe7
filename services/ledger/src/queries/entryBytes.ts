import { notesBytes } from "@wonrail/kit/contract/notes";
import type { Entry } from "../domain/types";

/** Answers with entries end below this size, so that they fit into a gRPC message. */
export const MAX_PAGE_BYTES = 1024 * 1024;

/** Ids, time, numbers, origin and result of an entry. */
const OTHER_BYTES = 600;
const POSTING_BYTES = 90;
const BALANCE_BYTES = 110;

/** An upper bound of the bytes that an entry takes in a message. */
export function entryBytes({ postings, balances, memo, reference, metadata, original }: Entry): number {
  const notes = notesBytes({ memo: memo ?? "", reference: reference ?? "", metadata });
  const own = OTHER_BYTES + POSTING_BYTES * postings.length + BALANCE_BYTES * balances.length + notes;
  return original ? own + entryBytes(original) : own;
}

/** The first items that fit into a page together, at least one. */
export function takePage<T>(items: T[], bytesOf: (item: T) => number): T[] {
  let bytes = 0;
  const end = items.findIndex((item, index) => {
    bytes += bytesOf(item);
    return index > 0 && bytes > MAX_PAGE_BYTES;
  });
  return end === -1 ? items : items.slice(0, end);
}
