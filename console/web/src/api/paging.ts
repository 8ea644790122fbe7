export interface Page<Row> {
  rows: readonly Row[];
  /** Absent on the last page. */
  next?: string | undefined;
}

/** For an RPC that continues behind the last row: a full page may have a successor. */
export function pageAfter<Row>(rows: readonly Row[], limit: number, idOf: (row: Row) => string): Page<Row> {
  const last = rows.at(-1);
  return { rows, next: last === undefined || rows.length < limit ? undefined : idOf(last) };
}

/** For an RPC with a wonrail.common.v1.PageInfo. */
export function pageOf<Row>(
  rows: readonly Row[],
  info: { nextCursor?: string | undefined } | undefined,
): Page<Row> {
  return { rows, next: info?.nextCursor };
}
