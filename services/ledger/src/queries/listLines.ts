import type { Database } from "@wonrail/kit/db";
import { invalidRequest } from "@wonrail/kit/contract/errors";
import { type Won } from "@wonrail/kit/contract/money";
import type { TransactionType } from "../domain/types";
import { findHead } from "../store/journalHeads";
import {
  findLastRead,
  findOrgSequenceAt,
  type LinePlace,
  listLines as listPart,
  type PlacedLine,
} from "../store/lines";

export interface LinesQuery {
  orgId: string;
  /** Empty: all. */
  types: TransactionType[];
  reference: string | null;
  fromMs: number | null;
  toMs: number | null;
  minWon: Won | null;
  maxWon: Won | null;
  oldestFirst: boolean;
  after: string | null;
  limit: number;
}

/** Entries that a call reads at most when it searches. The caller continues with `nextAfter`. */
const MAX_ENTRIES_READ = 2_000;
/** More lines than an entry has. */
const BEHIND_LINES = 1_000_000;

/** Lists the lines of an organisation's wallets in commit order, newest or oldest first. */
export async function listLines(
  db: Database,
  query: LinesQuery,
): Promise<{ lines: PlacedLine[]; nextAfter: string | null }> {
  const { orgId, types, reference, minWon, maxWon, oldestFirst, limit } = query;
  const head = await findHead(db, orgId);
  const sequenceAt = (ms: number | null, otherwise: bigint) =>
    ms === null ? Promise.resolve(otherwise) : findOrgSequenceAt(db, orgId, head, ms);
  const [first, end] = await Promise.all([sequenceAt(query.fromMs, 1n), sequenceAt(query.toMs, head + 1n)]);
  const filter = { types, reference, first, end, minWon, maxWon };
  const isSearch = types.length > 0 || minWon !== null || maxWon !== null;
  const after = query.after === null ? null : readPlace(query.after);
  // Every entry has a line, but the entry of `after` may have no further one.
  const wanted = { after, oldestFirst, entries: isSearch ? MAX_ENTRIES_READ : limit + 2, limit: limit + 1 };
  const found = await listPart(db, orgId, filter, wanted);
  const lines = found.slice(0, limit);
  if (found.length > limit) return { lines, nextAfter: placeText(lines.at(-1)!.place) };
  const last = await findLastRead(db, orgId, filter, wanted);
  const nextAfter =
    last === undefined ? null : placeText({ orgSequence: last, position: oldestFirst ? BEHIND_LINES : 0 });
  return { lines, nextAfter };
}

export function placeText({ orgSequence, position }: LinePlace): string {
  return `${orgSequence}.${position}`;
}

const PLACE = /^([1-9][0-9]{0,17})\.([0-9]{1,7})$/;

function readPlace(text: string): LinePlace {
  const [, sequence, position] = PLACE.exec(text) ?? [];
  if (sequence === undefined || position === undefined)
    throw invalidRequest([{ path: "after", message: "is no place of a line" }]);
  return { orgSequence: BigInt(sequence), position: Number(position) };
}
