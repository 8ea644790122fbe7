import { groupBy } from "@wonrail/kit/groupBy";
import { idTimeOf } from "@wonrail/kit/contract/ids";
import { named, type Queryable, type Sql, sql, type Tx } from "@wonrail/kit/db";
import { type Input, type Kind, type Operation } from "../domain/operation";

export interface Claim {
  orgId: string;
  operationId: string;
  idempotencyKey: string | null;
  bodyHash: Buffer;
  input: Input;
  requestId: string;
  traceparent: string;
}

/** An operation with how far it is. */
export interface StoredOperation extends Operation {
  idempotencyKey: string | null;
  bodyHash: Buffer;
  /** Null while its outcome is open. */
  answer: Buffer | null;
  /** It was certainly not posted, and nobody goes on with it. */
  isReleased: boolean;
}

/** An operation in the hands of one who may take it to the ledger. */
export interface Claimed extends StoredOperation {
  /** When its holder took it, while nobody can have asked the ledger for it before; null when somebody may have. */
  aloneSince: string | null;
  /** An earlier request has begun it, and it was not let go since. */
  isBegun: boolean;
}

interface OperationRow {
  org_id: string;
  operation_id: string;
  idempotency_key: string | null;
  kind: Kind;
  body_hash: Buffer;
  input: Input;
  state: "CLAIMED" | "RELEASED" | "DONE" | "REFUSED";
  answer: Buffer | null;
  request_id: string;
  traceparent: string;
  created_at: Date;
}

const COLUMNS = sql`org_id, operation_id, idempotency_key, kind, body_hash, input, state, answer, request_id, traceparent, created_at`;

const CLAIM_COLUMNS = sql`org_id, operation_id, kind, idempotency_key, body_hash, input, request_id, traceparent`;

/** An array for each of these columns. */
function arraysOf(claims: Claim[]): Sql {
  return sql`
    ${claims.map((claim) => claim.orgId)}::text[],
    ${claims.map((claim) => claim.operationId)}::text[],
    ${claims.map((claim) => claim.input.kind)}::text[],
    ${claims.map((claim) => claim.idempotencyKey)}::text[],
    ${claims.map((claim) => claim.bodyHash)}::bytea[],
    ${claims.map((claim) => JSON.stringify(claim.input))}::jsonb[],
    ${claims.map((claim) => claim.requestId)}::text[],
    ${claims.map((claim) => claim.traceparent)}::text[]`;
}

/**
 * Takes the keys that are free, in one statement and in their order, so that two replicas with the same keys wait for each other instead of in a
 * circle. Gives the rows that are new; the others belong to somebody.
 */
export async function insertOperations(db: Queryable, claims: Claim[]): Promise<Claimed[]> {
  // Of two under one id and one key the row is the one that is given.
  const claimOf = new Map(claims.map((claim) => [`${claim.operationId} ${claim.idempotencyKey}`, claim]));
  const rows = await db.write<
    Pick<OperationRow, "operation_id" | "idempotency_key" | "created_at"> & { alone_since: string }
  >(
    named(
      "operations_insert",
      sql`
        insert into operations (${CLAIM_COLUMNS}, state)
        select ${CLAIM_COLUMNS}, 'CLAIMED'
        from unnest(${arraysOf([...claimOf.values()])}) as claim (${CLAIM_COLUMNS})
        order by org_id, kind, idempotency_key
        on conflict (org_id, kind, idempotency_key) where idempotency_key is not null do nothing
        returning operation_id, idempotency_key, created_at, updated_at::text as alone_since`,
    ),
  );
  return rows.map((row) => {
    const claim = claimOf.get(`${row.operation_id} ${row.idempotency_key}`)!;
    const { orgId, operationId, idempotencyKey, bodyHash, input, requestId, traceparent } = claim;
    return {
      ...{ orgId, operationId, idempotencyKey, bodyHash, input, requestId, traceparent },
      ...{ createdAt: row.created_at, aloneSince: row.alone_since },
      ...{ answer: null, isReleased: false, isBegun: false },
    };
  });
}

/**
 * Who holds these keys. A released operation is taken up again under its old id, so that it can never be posted twice, and otherwise as one that begins
 * now: its time and its facts are today's. By the same request only, since the completer does what is taken up.
 */
export async function takeOperationsByKey(
  tx: Tx,
  claims: Pick<Claim, "orgId" | "idempotencyKey" | "input" | "bodyHash">[],
): Promise<Map<string, Claimed>> {
  const keys = sql`
    ${claims.map((claim) => claim.orgId)}::text[],
    ${claims.map((claim) => claim.input.kind)}::text[],
    ${claims.map((claim) => claim.idempotencyKey)}::text[]`;
  // One that is open already is touched too: whoever has it sees that he is no longer alone with it.
  const taken = await tx.query<{ operation_id: string; alone_since: string | null }>(sql`
    with claim as (
      select distinct on (org_id, kind, idempotency_key, body_hash) *
      from unnest(${keys}, ${claims.map((claim) => claim.bodyHash)}::bytea[], ${claims.map(({ input }) => JSON.stringify(input))}::jsonb[])
        as claim (org_id, kind, idempotency_key, body_hash, input)
    ), open as (
      select o.org_id, o.operation_id, o.state, claim.input
      from operations o join claim using (org_id, kind, idempotency_key, body_hash)
      where o.state in ('CLAIMED', 'RELEASED')
      order by o.org_id, o.operation_id for update of o)
    update operations o set state = 'CLAIMED', updated_at = clock_timestamp(),
      input = case when open.state = 'RELEASED' then open.input else o.input end,
      created_at = case when open.state = 'RELEASED' then clock_timestamp() else o.created_at end
    from open where o.org_id = open.org_id and o.operation_id = open.operation_id
    returning o.operation_id, case when open.state = 'RELEASED' then o.updated_at::text end as alone_since`);
  const rows = await tx.query<OperationRow>(
    sql`select ${COLUMNS} from operations where (org_id, kind, idempotency_key) in (select * from unnest(${keys}))`,
  );
  const aloneSince = new Map(taken.map((row) => [row.operation_id, row.alone_since]));
  const asked = groupBy(claims, ({ orgId, input, idempotencyKey }) =>
    operationKey(orgId, input.kind, idempotencyKey),
  );
  return new Map(
    rows.map((row) => {
      const key = operationKey(row.org_id, row.kind, row.idempotency_key);
      const since = aloneSince.get(row.operation_id) ?? null;
      const isAlone = asked.get(key)!.length === 1;
      return [key, { ...fromRow(row), aloneSince: isAlone ? since : null, isBegun: since === null }];
    }),
  );
}

export function operationKey(orgId: string, kind: Kind, idempotencyKey: string | null): string {
  return `${orgId}|${kind}|${idempotencyKey}`;
}

export async function findOperationByKey(
  db: Queryable,
  { orgId, kind, idempotencyKey }: { orgId: string; kind: Kind; idempotencyKey: string },
): Promise<StoredOperation | undefined> {
  const row = await db.maybe<OperationRow>(sql`
    select ${COLUMNS} from operations
    where org_id = ${orgId} and kind = ${kind} and idempotency_key = ${idempotencyKey}`);
  return row && fromRow(row);
}

/** The answers of these operations that are there already. */
export async function findAnswers(
  db: Queryable,
  operations: Pick<Operation, "orgId" | "operationId">[],
): Promise<Map<string, Buffer>> {
  const rows = await db.query<{ operation_id: string; answer: Buffer }>(sql`
    select operation_id, answer from operations
    where answer is not null and (org_id, operation_id) in (select * from unnest(
      ${operations.map((operation) => operation.orgId)}::text[], ${operations.map((operation) => operation.operationId)}::text[]))`);
  return new Map(rows.map((row) => [row.operation_id, row.answer]));
}

export interface Answered {
  orgId: string;
  operationId: string;
  state: "DONE" | "REFUSED";
  answer: Uint8Array;
}

/**
 * Where an answer is there already the table's CHECK refuses, see migrations/0008_save_answers.sql; and where a claim is not there any more, the division by
 * nothing: its key would be free, although all is done.
 */
export function saveAnswers(tx: Tx, answered: Answered[]): void {
  tx.push(
    named(
      "answers_save",
      sql`
        select 1 / (${answered.length} = save_answers(
          ${answered.map((one) => one.orgId)}::text[],
          ${answered.map((one) => one.operationId)}::text[],
          ${answered.map((one) => one.state)}::text[],
          ${answered.map((one) => one.answer)}::bytea[]))::integer`,
    ),
  );
}

/** Claims again what a database has lost that another took over from without its last commits. Not where its key is somebody else's by now. */
export async function restoreClaims(tx: Tx, operations: StoredOperation[]): Promise<void> {
  await tx.run(sql`
    insert into operations (${CLAIM_COLUMNS}, state, created_at)
    select ${CLAIM_COLUMNS}, 'CLAIMED', created_at
    from unnest(${arraysOf(operations)}, ${operations.map((one) => one.createdAt)}::timestamptz[]) as claim (${CLAIM_COLUMNS}, created_at)
    where not exists (select from operations o where o.org_id = claim.org_id and o.operation_id = claim.operation_id)
    order by org_id, operation_id
    on conflict do nothing`);
}

/**
 * The ledger has certainly not seen it: nothing will be done unless its own key asks again. False when somebody else has taken it up
 * meanwhile, who may be asking the ledger now.
 */
export async function releaseOperation(
  db: Queryable,
  operation: Pick<Operation, "orgId" | "operationId">,
  aloneSince: string,
): Promise<boolean> {
  const released = await db.run(sql`
    update operations set state = 'RELEASED', updated_at = now()
    where ${isAlone(operation, aloneSince)}`);
  return released === 1;
}

/** The same where no release of the ledger takes its id: its key is free, and who asks again gets another id. */
export async function forgetOperation(
  db: Queryable,
  operation: Pick<Operation, "orgId" | "operationId">,
  aloneSince: string,
): Promise<boolean> {
  const forgotten = await db.run(sql`
    delete from operations
    where ${isAlone(operation, aloneSince)}`);
  return forgotten === 1;
}

/** The same whoever has taken it up, where the ledger is known never to have seen it. Undefined when it is not open; else what it was. */
export async function forgetOpenOperation(
  tx: Tx,
  { orgId, operationId }: Pick<Operation, "orgId" | "operationId">,
): Promise<{ kind: Kind; since: Date } | undefined> {
  return tx.maybe<{ kind: Kind; since: Date }>(sql`
    delete from operations where org_id = ${orgId} and operation_id = ${operationId} and state = 'CLAIMED'
    returning kind, created_at as since`);
}

/** Nobody else has taken it up since. */
function isAlone({ orgId, operationId }: Pick<Operation, "orgId" | "operationId">, since: string): Sql {
  return sql`org_id = ${orgId} and operation_id = ${operationId} and state = 'CLAIMED' and updated_at = ${since}::timestamptz`;
}

/** By a time that is as far ahead, too: it is of a clock that was set back since, which may take hours to come there. */
function isOpenSince(column: Sql, olderThanMs: number): Sql {
  const age = sql`make_interval(secs => ${olderThanMs / 1000})`;
  return sql`state = 'CLAIMED' and (${column} < now() - ${age} or ${column} > now() + ${age})`;
}

/** Takes operations that nobody has finished for a while; another replica looks at them again only after as long a while. */
export async function takeAbandonedOperations(
  tx: Tx,
  olderThanMs: number,
  limit: number,
): Promise<Claimed[]> {
  const rows = await tx.query<OperationRow>(sql`
    update operations set updated_at = clock_timestamp()
    where (org_id, operation_id) in (
      select org_id, operation_id from operations
      where ${isOpenSince(sql`updated_at`, olderThanMs)}
      order by updated_at limit ${limit} for update skip locked)
    returning ${COLUMNS}`);
  return rows.map((row) => ({ ...fromRow(row), aloneSince: null, isBegun: true }));
}

/** By when they were taken on, whoever has tried them since; of all that are open, which are few. */
export async function countOpenOperations(db: Queryable, olderThanMs: number): Promise<number> {
  const { count } = await db.one<{ count: bigint }>(sql`
    select count(*) from operations
    where ${isOpenSince(sql`created_at`, olderThanMs)}`);
  return Number(count);
}

export interface OpenOperation {
  operation: string;
  organisation: string;
  kind: Kind;
  /** When it was taken on, and when somebody has gone on with it last. */
  since: Date;
  lastTried: Date;
  ageSeconds: number;
}

/** What is open for so long, oldest first; of one organisation, or of all. */
export async function listOpenOperations(
  db: Queryable,
  wanted: { olderThanMs: number; orgId: string | null; limit: number },
): Promise<OpenOperation[]> {
  return db.query<OpenOperation>(sql`
    select operation_id as operation, org_id as organisation, kind, created_at as since, updated_at as "lastTried",
      round(extract(epoch from now() - created_at))::integer as "ageSeconds"
    from operations
    where ${isOpenSince(sql`created_at`, wanted.olderThanMs)} and (${wanted.orgId}::text is null or org_id = ${wanted.orgId})
    order by created_at, operation_id limit ${wanted.limit}`);
}

export async function findOperationState(
  db: Queryable,
  { orgId, operationId }: Pick<Operation, "orgId" | "operationId">,
): Promise<OperationRow["state"] | undefined> {
  const row = await db.maybe<Pick<OperationRow, "state">>(sql`
    select state from operations where org_id = ${orgId} and operation_id = ${operationId}`);
  return row?.state;
}

/**
 * Forgets keys whose time is over, by the database's clock and by the one of the process, which made the ids: of a clock that was wrong for a moment no key
 * is free before its time. What they made stays in the records.
 */
export async function deleteOldOperations(
  tx: Tx,
  { olderThanDays, nowMs, limit }: { olderThanDays: number; nowMs: number; limit: number },
): Promise<number> {
  const madeBefore = idTimeOf(nowMs - olderThanDays * 86_400_000);
  return tx.run(sql`
    delete from operations where (org_id, operation_id) in (
      select org_id, operation_id from operations
      where created_at < now() - make_interval(days => ${olderThanDays}) and state <> 'CLAIMED'
        -- One that was done long after it was first asked for is kept as long as any other.
        and updated_at < now() - make_interval(days => ${olderThanDays})
        and substr(operation_id, 5, 12) < ${madeBefore}
      order by created_at limit ${limit} for update skip locked)`);
}

function fromRow(row: OperationRow): StoredOperation {
  return {
    orgId: row.org_id,
    operationId: row.operation_id,
    idempotencyKey: row.idempotency_key,
    input: row.input,
    bodyHash: row.body_hash,
    answer: row.answer,
    isReleased: row.state === "RELEASED",
    requestId: row.request_id,
    traceparent: row.traceparent,
    createdAt: row.created_at,
  };
}
