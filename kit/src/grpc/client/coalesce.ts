import { performance } from "node:perf_hooks";
import { DomainError } from "../../contract/errors";
import { createBatchQueue, type Outcome } from "../../batchQueue";
import { type Registry } from "../../metrics";
import { MAX_ANSWER_BYTES, MAX_REQUEST_BYTES } from "../messageLimits";
import { contextOfCaller } from "../requestContext";
import { type CallOptions, carriesRequestId } from "./call";
import { createPace, type Pace } from "./pace";
import { type BulkCall, type Later, type Queued, sendBulk } from "./sendBulk";
import { type UnaryCall } from "./unaryCall";

export interface CoalesceOptions<Req, Res, Item, Answer> extends BulkCall<Req, Res, Item, Answer> {
  /** The queue's name in metrics. */
  name: string;
  /** Time limit of an item without its own, within its request's deadline. */
  defaultTimeoutMs: number;
  maxBatch: number;
  /** Upper bounds of an item and of its answer, so that neither message of a bulk call grows over its limit. */
  bytesOf: (request: Req) => { request: number; answer: number };
  /** How many may wait. The next one is refused at once. */
  maxQueue: number;
  registry?: Registry;
}

export interface Coalesced<Req, Res> {
  (request: Req, options?: Pick<CallOptions, "timeoutMs" | "retry">): Promise<Res>;
  /** Refuses later items, and resolves when every accepted one is answered. */
  close(): Promise<void>;
}

/**
 * Puts a batch queue in front of a bulk RPC: items that queue until the next call travel together.
 * Each item keeps its own request id, trace, organisation, deadline and outcome, as if sent alone.
 */
export function coalesce<Req, Res, Item, Answer>(
  options: CoalesceOptions<Req, Res, Item, Answer>,
): Coalesced<Req, Res> {
  const { name, defaultTimeoutMs, maxBatch, bytesOf, maxQueue, registry } = options;
  const inFlight = new Set<Promise<Outcome<Later<Res>>[]>>();
  const pace = createPace();
  const queue = createBatchQueue<Queued<Req>, Later<Res>>({
    name,
    work: (batch) => sendWithoutBlocking(sendBulk(batch, options), batch.length, inFlight, pace),
    maxBatch,
    maxQueue,
    ownerOf: ({ context }) => context.orgId,
    weightOf: ({ request }) => partOfMessage(bytesOf(request)),
    ...(registry ? { registry } : {}),
  });
  const submit: UnaryCall<Req, Res> = async (request, { timeoutMs = defaultTimeoutMs, retry } = {}) => {
    const context = contextOfCaller();
    const nowMs = Date.now();
    const deadlineMs = Math.min(nowMs + timeoutMs, context.deadlineMs ?? Infinity);
    if (deadlineMs <= nowMs) throw new DomainError("SYS_003");
    const mayRepeat = retry === true && carriesRequestId(request);
    return until(deadlineMs - nowMs, queue.submit({ request, context, deadlineMs, mayRepeat }));
  };
  return Object.assign(submit, {
    async close() {
      await queue.close();
      await Promise.all(inFlight);
    },
  });
}

function partOfMessage({ request, answer }: { request: number; answer: number }): number {
  return Math.max(request / MAX_REQUEST_BYTES, answer / MAX_ANSWER_BYTES);
}

/**
 * Releases the queue while a call is still running; its items get their outcomes later. So a call
 * with one slow item delays no others.
 */
async function sendWithoutBlocking<Res>(
  sent: Promise<Outcome<Later<Res>>[]>,
  size: number,
  inFlight: Set<typeof sent>,
  pace: Pace,
): Promise<Outcome<Later<Res>>[]> {
  const sentMs = performance.now();
  const headStartMs = pace.headStartMs(inFlight.size);
  inFlight.add(sent);
  void sent.finally(() => {
    inFlight.delete(sent);
    pace.ended(performance.now() - sentMs);
  });
  const outcomes = await before(headStartMs, sent);
  if (outcomes) return outcomes;
  const outcomeOf = async (index: number) => {
    const outcome = (await sent)[index]!;
    if (!outcome.ok) throw outcome.error;
    return outcome.value;
  };
  return Array.from({ length: size }, (_, index) => ({ ok: true, value: outcomeOf(index) }));
}

/** Returns undefined on timeout. Clears its timer, so that nothing keeps the result alive. */
function before<T>(timeMs: number, work: Promise<T>): Promise<T | undefined> {
  return new Promise((resolve, reject) => {
    const timer = setTimeout(() => resolve(undefined), timeMs).unref();
    work.finally(() => clearTimeout(timer)).then(resolve, reject);
  });
}

/** SYS_003 on timeout; a later result is ignored. */
function until<T>(timeoutMs: number, work: Promise<T | Promise<T>>): Promise<T> {
  return new Promise((resolve, reject) => {
    const timer = setTimeout(() => reject(new DomainError("SYS_003")), timeoutMs);
    work.finally(() => clearTimeout(timer)).then(resolve, reject);
  });
}
