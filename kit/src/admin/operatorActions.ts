import { createHash } from "node:crypto";
import { currentContext } from "../context";
import { newId } from "../contract/ids";
import { type Database, type Queryable, sql, type Tx, tx } from "../db";
import { type JsonObject } from "../json";
import { type ActingOperator, type RoleName } from "./operators";

/** An action of an operator, as a service's audit trail keeps it. */
export interface OperatorAction {
  sequence: bigint;
  occurredAt: Date;
  operator: string;
  roles: RoleName[];
  client: string | null;
  method: string;
  orgId: string | null;
  subject: string;
  reason: string;
  /** JSON text. */
  details: string;
  requestId: string;
  previousHash: Buffer;
  hash: Buffer;
}

export interface NewOperatorAction {
  orgId?: string;
  /** The id of the changed object. */
  subject: string;
  details?: JsonObject;
}

/** Appends to the trail in the caller's transaction. Actions of one service wait for each other. */
export async function appendOperatorAction(
  tx: Tx,
  { name, roles, reason, client, method }: ActingOperator,
  { orgId, subject, details = {} }: NewOperatorAction,
): Promise<void> {
  const head = await tx.one<ChainEnd & { now: Date }>(sql`
    select sequence, hash, date_trunc('milliseconds', clock_timestamp()) as now
    from operator_action_head for update`);
  const action = {
    sequence: head.sequence + 1n,
    occurredAt: head.now,
    operator: name,
    roles,
    client: client ?? null,
    method,
    orgId: orgId ?? null,
    subject,
    reason,
    details: JSON.stringify(details),
    requestId: currentContext()?.requestId ?? newId("req"),
    previousHash: head.hash,
  };
  const hash = hashOf(action);
  await tx.run(sql`
    insert into operator_actions (${COLUMNS})
    values (${action.sequence}, ${action.occurredAt}, ${action.operator}, ${action.roles}, ${action.client},
      ${action.method}, ${action.orgId}, ${action.subject}, ${action.reason}, ${action.details},
      ${action.requestId}, ${action.previousHash}, ${hash})`);
  await tx.run(sql`update operator_action_head set sequence = ${action.sequence}, hash = ${hash}`);
}

/** Newest first, below a sequence. */
export function listOperatorActions(
  db: Queryable,
  { before, limit }: { before?: bigint | undefined; limit: number },
): Promise<OperatorAction[]> {
  return db.query<OperatorAction>(sql`
    select ${RESULT} from operator_actions
    where (${before ?? null}::bigint is null or sequence < ${before ?? null})
    order by sequence desc limit ${limit}`);
}

export interface ChainReport {
  actions: bigint;
  /** The first row that breaks the chain. */
  broken: { sequence: bigint; problem: string } | null;
}

const PAGE = 1_000;

/** Follows the chain from its first row to its head, in one snapshot. */
export function verifyOperatorActions(db: Database, signal?: AbortSignal): Promise<ChainReport> {
  return tx(
    db,
    async (tx) => {
      let end: ChainEnd = { sequence: 0n, hash: Buffer.alloc(32) };
      for (;;) {
        signal?.throwIfAborted();
        const page = await tx.query<OperatorAction>(sql`
          select ${RESULT} from operator_actions where sequence > ${end.sequence} order by sequence limit ${PAGE}`);
        for (const action of page) {
          const problem = brokenLink(end, action);
          if (problem !== null)
            return { actions: end.sequence, broken: { sequence: end.sequence + 1n, problem } };
          end = action;
        }
        if (page.length < PAGE) break;
      }
      const head = await tx.one<ChainEnd>(sql`select sequence, hash from operator_action_head`);
      const isWhole = head.sequence === end.sequence && head.hash.equals(end.hash);
      const missing = { sequence: end.sequence + 1n, problem: "the end of the chain is missing" };
      return { actions: end.sequence, broken: isWhole ? null : missing };
    },
    { isolation: "repeatable read", readOnly: true },
  );
}

interface ChainEnd {
  sequence: bigint;
  hash: Buffer;
}

function brokenLink(end: ChainEnd, action: OperatorAction): string | null {
  if (action.sequence !== end.sequence + 1n) return "it is missing";
  if (!action.previousHash.equals(end.hash)) return "it does not follow the row before it";
  return action.hash.equals(hashOf(action)) ? null : "its contents were changed";
}

/** Each part is preceded by its length, so two different actions never give the same bytes. */
function hashOf(action: Omit<OperatorAction, "hash">): Buffer {
  const { previousHash, sequence, occurredAt, roles, client, orgId } = action;
  const parts = [
    ...[sequence.toString(), occurredAt.toISOString(), action.operator, roles.join(","), client ?? ""],
    ...[action.method, orgId ?? "", action.subject, action.reason, action.details, action.requestId],
  ];
  const hash = createHash("sha256").update(previousHash);
  for (const part of parts) hash.update(`${Buffer.byteLength(part)}:`).update(part);
  return hash.digest();
}

const COLUMNS = sql`
  sequence, occurred_at, operator, roles, client, method, org_id, subject, reason, details, request_id,
  previous_hash, hash`;
const RESULT = sql`
  sequence, occurred_at as "occurredAt", operator, roles, client, method, org_id as "orgId", subject, reason,
  details, request_id as "requestId", previous_hash as "previousHash", hash`;
