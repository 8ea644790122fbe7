import { DomainError } from "../contract/errors";
import { type Queryable, sql, type Tx } from "../db";
import { fromAnswerJson, toAnswerJson } from "./answerJson";
import { type KeyedRequest } from "./keyedRequest";

/** An answer, and whether an earlier request got it. */
export interface Answered<A> {
  answer: A;
  replayed: boolean;
}

/**
 * Does the work once per key, in the caller's transaction, and stores its answer, which is plain
 * data without secrets. A repetition gets the stored answer. REQ_003 when the key belongs to another
 * request. A concurrent repetition waits for the first request. A refusal rolls the key back, so that it stays free.
 */
export async function once<A extends object>(
  tx: Tx,
  request: KeyedRequest | undefined,
  work: () => Promise<A>,
): Promise<Answered<A>> {
  const earlier = request && (await claimKey<A>(tx, request));
  if (earlier?.answer !== undefined) return { answer: earlier.answer, replayed: true };
  const answer = await work();
  if (request) await saveAnswer(tx, request, answer);
  return { answer, replayed: false };
}

/**
 * Inserts the key. Returns the row of an earlier request with the same key, whose answer is
 * undefined while the operation is under way.
 */
export async function claimKey<A extends object>(
  tx: Tx,
  request: KeyedRequest,
): Promise<{ answer: A | undefined } | undefined> {
  const { orgId, operation, key, requestHash } = request;
  const inserted = await tx.run(sql`
    insert into idempotency_keys (org_id, operation, key, request_hash)
    values (${orgId}, ${operation}, ${key}, ${requestHash}) on conflict do nothing`);
  if (inserted === 1) return undefined;
  const found = await findKey<A>(tx, request);
  // The job deleted the row in between: the key is too old to be known.
  if (!found) throw new DomainError("SYS_002", { retryAfterMs: 100 });
  return found;
}

/** The row of an earlier request with the same key. For checks that must not run in a repetition. */
export async function findKey<A extends object>(
  db: Queryable,
  { orgId, operation, key, requestHash }: KeyedRequest,
): Promise<{ answer: A | undefined } | undefined> {
  const found = await db.maybe<{ request_hash: Buffer; answer: object | null }>(sql`
    select request_hash, answer from idempotency_keys
    where org_id = ${orgId} and operation = ${operation} and key = ${key}`);
  if (!found) return undefined;
  if (!found.request_hash.equals(requestHash)) throw new DomainError("REQ_003");
  return { answer: found.answer === null ? undefined : (fromAnswerJson(found.answer) as A) };
}

/** The first answer stays. */
export async function saveAnswer(
  tx: Tx,
  { orgId, operation, key }: KeyedRequest,
  answer: object,
): Promise<void> {
  await tx.run(sql`
    update idempotency_keys set answer = ${toAnswerJson(answer)}
    where org_id = ${orgId} and operation = ${operation} and key = ${key} and answer is null`);
}
