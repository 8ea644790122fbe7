import { type Queryable, type Sql, sql } from "@wonrail/kit/db";
import { MAX_OFFSET_ROWS, type Page, rowsToRead } from "@wonrail/kit/page";
import { type Settlement } from "@wonrail/kit/records";

/** Filters of a list. */
export interface ListFilter {
  reference?: string | undefined;
  settlementStatus?: Settlement["status"] | undefined;
  /** Ids contain their time: the first id of the range, and the first one behind it. */
  fromId?: string | undefined;
  beforeId?: string | undefined;
  minWon?: bigint | undefined;
  maxWon?: bigint | undefined;
}

export interface ListWanted<S> {
  orgId: string;
  /** Null: all wallets. */
  walletId: string | null;
  status?: S | undefined;
  filter?: ListFilter;
  page: Page;
}

/** The rows that have a status. */
export interface StatusFilter {
  /** A condition with an index of its own that ends with the id. Absent: most rows have the status. */
  indexed?: Sql;
  condition: Sql;
}

export interface ListTable {
  name: Sql;
  id: Sql;
  /** The start of the ids, with its underscore. */
  idPrefix: string;
  /** The columns of the wallets. Each has an index that ends with the id. */
  wallets: readonly Sql[];
}

export interface RowsFound<R> {
  rows: R[];
  /** Null: too many rows to count. */
  total: number | null;
  /** Set when the search stopped before it filled the page: the last id that it read. */
  stoppedAt: string | null;
}

/**
 * Lists rows in the order of their ids. The query uses the index of one filter. The other filters are checked on at most
 * MAX_OFFSET_ROWS rows along it. So every page has a limited cost, and the cursor continues the search.
 */
export async function listRows<R extends object>(
  db: Queryable,
  table: ListTable,
  wanted: ListWanted<StatusFilter>,
): Promise<RowsFound<R>> {
  const { id } = table;
  const { orgId, filter = {}, page } = wanted;
  const { walks, conditions } = planOf(table, { ...wanted, filter });
  const order = page.oldestFirst ? sql`asc` : sql`desc`;
  const rowsWanted = rowsToRead(page);
  const reach = conditions.length === 0 ? page.offset + rowsWanted : MAX_OFFSET_ROWS;
  const matching = sql.join([sql`true`, ...conditions], sql` and `);

  const rows = await db.query<R>(sql`
    select * from (${along(sql`*`, page.after, reach)}) as found
    where ${matching} order by ${id} ${order} limit ${rowsWanted} offset ${page.offset}`);
  const stopped =
    conditions.length > 0 && rows.length < rowsWanted
      ? await db.maybe<{ id: string }>(sql`
          select ${id} as id from (${along(id, page.after, reach)}) as found
          order by 1 ${order} limit 1 offset ${MAX_OFFSET_ROWS - 1}`)
      : undefined;
  // The count walks the index in its order too. Otherwise Postgres may read the table from its start.
  const columns = conditions.length === 0 ? id : sql`*`;
  const { read, total } = await db.one<{ read: bigint; total: bigint }>(sql`
    select count(*) as read, count(*) filter (where ${matching}) as total
    from (${along(columns, null, MAX_OFFSET_ROWS + 1)}) as found`);
  return {
    rows,
    total: read > MAX_OFFSET_ROWS ? null : Number(total),
    stoppedAt: stopped?.id ?? null,
  };

  /** The first rows of all walks together. No row is on two walks. */
  function along(columns: Sql, after: string | null, limit: number): Sql {
    const range = (column: Sql) => rangeOf(column, filter, after, page.oldestFirst === true);
    const parts = walks.map(
      (walk) => sql`(select ${columns} from ${table.name} where org_id = ${orgId} ${walk(range)}
        order by ${id} ${order} limit ${limit})`,
    );
    return sql`select * from (${sql.join(parts, sql` union all `)}) as walks order by ${id} ${order} limit ${limit}`;
  }
}

/** The condition of one walk along an index. `range` limits a column of ids. */
type Walk = (range: (column: Sql) => Sql) => Sql;

/** The filter with the fewest rows chooses the index. The rest is checked row by row. */
function planOf(
  { id, wallets, idPrefix }: ListTable,
  { orgId, walletId, status, filter }: ListWanted<StatusFilter> & { filter: ListFilter },
): { walks: Walk[]; conditions: Sql[] } {
  const { reference, settlementStatus, minWon, maxWon } = filter;
  const isSettled = (wanted: string) =>
    sql`coalesce((select s.status from settlements s where s.org_id = found.org_id and s.ledger_ref = found.${id}),
      'PENDING') = ${wanted}`;
  const checks = {
    reference: reference === undefined ? null : sql`reference = ${reference}`,
    wallet: walletId === null ? null : sql`${walletId} in (${sql.join(wallets, sql`, `)})`,
    settlement: settlementStatus === undefined ? null : isSettled(settlementStatus),
    status: status?.condition ?? null,
    min: minWon === undefined ? null : sql`amount_won >= ${minWon}`,
    max: maxWon === undefined ? null : sql`amount_won <= ${maxWon}`,
  };
  const rest = (...indexed: (keyof typeof checks)[]) =>
    Object.entries(checks).flatMap(([name, check]) =>
      check === null || indexed.includes(name as keyof typeof checks) ? [] : [check],
    );
  if (reference !== undefined)
    return {
      walks: [(range) => sql`and reference = ${reference} ${range(id)}`],
      conditions: rest("reference"),
    };
  if (settlementStatus === "FAILED")
    return {
      walks: [(range) => sql`and ${id} = any(array(${failed(range)}))`],
      conditions: rest("settlement"),
    };
  if (walletId !== null)
    return {
      walks: wallets.map(
        (column): Walk =>
          (range) =>
            sql`and ${column} = ${walletId} ${range(id)}`,
      ),
      conditions: rest("wallet"),
    };
  if (status?.indexed)
    return { walks: [(range) => sql`and ${status.indexed!} ${range(id)}`], conditions: rest() };
  return { walks: [(range) => range(id)], conditions: rest() };

  /** Few settlements are FAILED. A partial index has them. */
  function failed(range: (column: Sql) => Sql): Sql {
    return sql`
      select ledger_ref from settlements
      where org_id = ${orgId} and status = 'FAILED' and starts_with(ledger_ref, ${idPrefix}) ${range(sql`ledger_ref`)}`;
  }
}

function rangeOf(
  column: Sql,
  { fromId, beforeId }: ListFilter,
  after: string | null,
  oldestFirst: boolean,
): Sql {
  const bounds = [
    ...(after === null ? [] : [oldestFirst ? sql`${column} > ${after}` : sql`${column} < ${after}`]),
    ...(fromId === undefined ? [] : [sql`${column} >= ${fromId}`]),
    ...(beforeId === undefined ? [] : [sql`${column} < ${beforeId}`]),
  ];
  return sql.join(
    bounds.map((bound) => sql`and ${bound}`),
    sql` `,
  );
}
