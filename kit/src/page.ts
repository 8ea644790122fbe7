import { type PageInfo, type PageRequest } from "@wonrail/proto/common/v1/common";
import { invalidRequest } from "./contract/errors";

/** Limit of page numbers and of the count. Beyond it a cursor costs the same for every page. */
export const MAX_OFFSET_ROWS = 10_000;

const DEFAULT_LIMIT = 20;
const MAX_LIMIT = 100;

/** The wanted rows of a list: after a key, or after an offset. */
export interface Page {
  readonly limit: number;
  readonly offset: number;
  readonly after: string | null;
  /** Absent: newest first. */
  readonly oldestFirst?: true;
}

/**
 * `isKey` recognises the list's keys: another list's cursor would silently lead to a wrong place.
 */
export function readPage(request: PageRequest | undefined, isKey: (key: string) => boolean): Page {
  const limit = request?.limit || DEFAULT_LIMIT;
  if (limit > MAX_LIMIT) throw invalidRequest([{ path: "limit", message: `must be from 1 to ${MAX_LIMIT}` }]);
  const position = request?.position;
  const order = request?.oldestFirst ? { oldestFirst: true as const } : {};
  if (position?.$case === "cursor")
    return { limit, offset: 0, after: readCursor(position.value, isKey), ...order };
  const offset = ((position?.value || 1) - 1) * limit;
  if (offset >= MAX_OFFSET_ROWS) {
    const message = `pages beyond ${MAX_OFFSET_ROWS} rows are not served; go on with cursor`;
    throw invalidRequest([{ path: "currentPage", message }]);
  }
  return { limit, offset, after: null, ...order };
}

/** Limit for the statement: one row more than the page, to detect a next one. */
export function rowsToRead(page: Page): number {
  return page.limit + 1;
}

/**
 * Cuts the read rows to the page. `keyOf` returns a row's key for the next cursor; `total` is a
 * count that stopped at MAX_OFFSET_ROWS + 1, or null. `stoppedAt` is the key of the last row that was
 * read when the search stopped before the page was full.
 */
export function cutPage<T>(
  rows: readonly T[],
  page: Page,
  keyOf: (row: T) => string,
  total: number | null,
  stoppedAt: string | null = null,
): { items: T[]; info: PageInfo } {
  const items = rows.slice(0, page.limit);
  const last = items.at(-1);
  const next = rows.length > page.limit && last !== undefined ? keyOf(last) : stoppedAt;
  return {
    items,
    info: {
      hasNext: next !== null,
      nextCursor: next === null ? undefined : Buffer.from(next).toString("base64url"),
      totalCount: total === null || total > MAX_OFFSET_ROWS ? undefined : total,
    },
  };
}

function readCursor(cursor: string, isKey: (key: string) => boolean): string {
  const key = Buffer.from(cursor, "base64url").toString();
  if (!isKey(key) || Buffer.from(key).toString("base64url") !== cursor) {
    throw invalidRequest([{ path: "cursor", message: "is not a cursor that an earlier page gave" }]);
  }
  return key;
}
