import { type Address } from "@wonrail/kit/contract/address";
import { type Queryable, type Sql, sql } from "@wonrail/kit/db";
import { MAX_OFFSET_ROWS, type Page, rowsToRead } from "@wonrail/kit/page";
import { type PaymentType, type RecordStatus, type TransactionRecord } from "../domain/record";
import { type RecordRow, toRecord } from "./records";

export interface RecordFilter {
  status: RecordStatus | null;
  paymentType: PaymentType | null;
  address: Address | null;
  reference?: string | undefined;
  minAmount?: bigint | undefined;
  maxAmount?: bigint | undefined;
  /** Range of ids, which contain their creation time. */
  fromId: string | null;
  beforeId: string | null;
}

export interface RecordsFound {
  rows: TransactionRecord[];
  /** Null: too many records to count. */
  total: number | null;
  /** Set when the search stopped before it filled the page: the last id that it read. */
  stoppedAt: string | null;
}

/**
 * Records in the order of their ids. Filters without an index are checked on at most MAX_OFFSET_ROWS
 * records, and the cursor continues the search.
 */
export async function listRecords(
  db: Queryable,
  orgId: string,
  filter: RecordFilter,
  page: Page,
): Promise<RecordsFound> {
  const order = page.oldestFirst ? sql`asc` : sql`desc`;
  const conditions = conditionsOf(filter);
  const matching = sql.join([sql`true`, ...conditions], sql` and `);
  const reach = conditions.length === 0 ? page.offset + rowsToRead(page) : MAX_OFFSET_ROWS;
  const along = (columns: Sql, after: string | null, limit: number) =>
    sql`select * from (${walks(orgId, filter, { columns, after, limit, page })}) as walks order by record_id ${order} limit ${limit}`;
  const rows = await db.query<RecordRow>(sql`
    select * from (${along(sql`*`, page.after, reach)}) as found
    where ${matching} order by record_id ${order} limit ${rowsToRead(page)} offset ${page.offset}`);
  const stopped =
    conditions.length > 0 && rows.length < rowsToRead(page)
      ? await db.maybe<{ record_id: string }>(sql`
          select record_id from (${along(sql`record_id`, page.after, reach)}) as found
          order by record_id ${order} limit 1 offset ${MAX_OFFSET_ROWS - 1}`)
      : undefined;
  const counted = conditions.length === 0 ? sql`record_id` : sql`*`;
  const { read, total } = await db.one<{ read: bigint; total: bigint }>(sql`
    select count(*) as read, count(*) filter (where ${matching}) as total
    from (${along(counted, null, MAX_OFFSET_ROWS + 1)}) as found`);
  return {
    rows: rows.map(toRecord),
    total: read > MAX_OFFSET_ROWS ? null : Number(total),
    stoppedAt: stopped?.record_id ?? null,
  };
}

/** Conditions that no walk has. A reference has its own index, so the others are checked on its records. */
function conditionsOf({
  reference,
  status,
  paymentType,
  address,
  minAmount,
  maxAmount,
}: RecordFilter): Sql[] {
  const conditions = [
    minAmount === undefined ? null : sql`amount >= ${minAmount}`,
    maxAmount === undefined ? null : sql`amount <= ${maxAmount}`,
    ...(reference === undefined
      ? []
      : [
          status && sql`status = ${status}`,
          paymentType && sql`payment_type = ${paymentType}`,
          address && sql`${address} in (from_address, to_address)`,
        ]),
  ];
  return conditions.filter((condition) => condition !== null);
}

/**
 * The first matching rows. Each wanted status and payment type, as sender and as recipient, is a
 * separate walk of one index. So a page costs the same anywhere, also for rare rows.
 */
function walks(
  orgId: string,
  filter: RecordFilter,
  { columns, after, limit, page }: { columns: Sql; after: string | null; limit: number; page: Page },
): Sql {
  const { address, reference, fromId, beforeId } = filter;
  const order = page.oldestFirst ? sql`asc` : sql`desc`;
  const behind = page.oldestFirst ? sql`record_id > ${after}` : sql`record_id < ${after}`;
  const range = sql.join(
    [
      sql`org_id = ${orgId}`,
      ...(after === null ? [] : [behind]),
      ...(fromId === null ? [] : [sql`record_id >= ${fromId}`]),
      ...(beforeId === null ? [] : [sql`record_id < ${beforeId}`]),
    ],
    sql` and `,
  );
  const first = (condition: Sql) =>
    sql`(select ${columns} from records where ${range} ${condition} order by record_id ${order} limit ${limit})`;
  if (reference !== undefined) return first(sql`and reference = ${reference}`);
  const all = statesOf(filter).flatMap((state) =>
    address === null
      ? [first(state)]
      : [
          first(sql`${state} and from_address = ${address}`),
          first(sql`${state} and to_address = ${address} and from_address <> ${address}`),
        ],
  );
  return sql.join(all, sql` union all `);
}

function statesOf({ status, paymentType }: RecordFilter): Sql[] {
  if (status === null && paymentType === null) return [sql``];
  const statuses: RecordStatus[] = status ? [status] : ["PENDING", "CONFIRMED", "FAILED"];
  const types: PaymentType[] = paymentType ? [paymentType] : ["INSTANT", "SCHEDULED"];
  return statuses.flatMap((one) => types.map((type) => sql`and status = ${one} and payment_type = ${type}`));
}
