import { type ErrorDetail, type ItemContext } from "@wonrail/proto/common/v1/common";
import { childTraceparent, type RequestContext, runInContext } from "../../context";
import { assert, DomainError, isRefusal } from "../../errors";
import { newId } from "../../ids";
import { createLane, type Outcome } from "../../lane";
import { type Registry } from "../../metrics";
import { contextOfCaller, toItemContext } from "../requestContext";
import { fromErrorDetail } from "../wireErrors";
import { type CallOptions, carriesRequestId } from "./call";
import { type UnaryCall } from "./unaryCall";

export interface CoalesceOptions<Req, Res, Item, Answer> {
  /** The lane's name in metrics. */
  name: string;
  /** The bulk RPC: one answer for each item, in their order. */
  bulk: (items: Item[], options: CallOptions) => Promise<readonly Answer[]>;
  /** Its twin, for the items of a bulk call that failed as a whole. */
  unary: UnaryCall<Req, Res>;
  toItem: (request: Req, context: ItemContext) => Item;
  fromAnswer: (answer: Answer) => { value: Res } | { error: ErrorDetail };
  /** How long an item may take that says nothing else, when its request's own deadline leaves that much. */
  defaultTimeoutMs: number;
  maxBatch: number;
  /** How many may wait. The next one is refused at once. */
  maxQueue: number;
  registry?: Registry;
}

export interface Coalesced<Req, Res> {
  (request: Req, options?: Pick<CallOptions, "timeoutMs" | "retry">): Promise<Res>;
  /** Refuses what comes from now on, and resolves when everything that was accepted is answered. */
  close(): Promise<void>;
}

interface Queued<Req> {
  request: Req;
  context: RequestContext;
  deadlineMs: number;
  mayRepeat: boolean;
}

/**
 * Puts a lane in front of a bulk RPC: what queues while the last call is in flight travels as one. Each item keeps its own request id,
 * trace, organisation, deadline and outcome, as if it had gone alone.
 */
export function coalesce<Req, Res, Item, Answer>(
  options: CoalesceOptions<Req, Res, Item, Answer>,
): Coalesced<Req, Res> {
  const { name, defaultTimeoutMs, maxBatch, maxQueue, registry } = options;
  const lane = createLane<Queued<Req>, Later<Res>>({
    name,
    work: (batch) => sendLive(batch, options),
    maxBatch,
    maxQueue,
    ...(registry ? { registry } : {}),
  });
  const submit: UnaryCall<Req, Res> = async (request, { timeoutMs = defaultTimeoutMs, retry } = {}) => {
    const context = contextOfCaller();
    const nowMs = Date.now();
    const deadlineMs = Math.min(nowMs + timeoutMs, context.deadlineMs ?? Infinity);
    if (deadlineMs <= nowMs) throw new DomainError("SYS_003");
    const mayRepeat = retry === true && carriesRequestId(request);
    return until(deadlineMs - nowMs, lane.submit({ request, context, deadlineMs, mayRepeat }));
  };
  return Object.assign(submit, { close: () => lane.close() });
}

/** A promise is an outcome too: that of an item which goes on by itself while the lane is back at work. */
type Later<Res> = Res | Promise<Res>;

async function sendLive<Req, Res, Item, Answer>(
  batch: Queued<Req>[],
  options: CoalesceOptions<Req, Res, Item, Answer>,
): Promise<Outcome<Later<Res>>[]> {
  const nowMs = Date.now();
  const isLive = ({ deadlineMs }: Queued<Req>) => deadlineMs > nowMs;
  if (batch.every(isLive)) return sendTogether(batch, options);
  const live = batch.filter(isLive);
  const outcomes = live.length > 0 ? await sendTogether(live, options) : [];
  let next = 0;
  return batch.map((queued) => (isLive(queued) ? outcomes[next++]! : tooLate()));
}

async function sendTogether<Req, Res, Item, Answer>(
  batch: Queued<Req>[],
  { bulk, unary, toItem, fromAnswer }: CoalesceOptions<Req, Res, Item, Answer>,
): Promise<Outcome<Later<Res>>[]> {
  // The call ends with its most patient item; the others stop waiting by themselves.
  const deadlineMs = batch.reduce((latest, queued) => Math.max(latest, queued.deadlineMs), 0);
  const context = { requestId: newId("req"), traceparent: childTraceparent(), deadlineMs };
  try {
    const items = batch.map((queued) =>
      toItem(queued.request, toItemContext(queued.context, queued.deadlineMs)),
    );
    const answers = await runInContext(context, () => bulk(items, { timeoutMs: deadlineMs - Date.now() }));
    assert(
      answers.length === batch.length,
      `a bulk call gave ${answers.length} answers for ${batch.length} items`,
    );
    return answers.map((answer) => toOutcome(fromAnswer(answer)));
  } catch (error) {
    const alone = atMost(MAX_ALONE);
    const repeat = ({ request, context, deadlineMs }: Queued<Req>) =>
      runInContext({ ...context, deadlineMs }, () =>
        unary(request, { retry: true, timeoutMs: deadlineMs - Date.now() }),
      );
    return batch.map((queued) =>
      queued.mayRepeat && !isRefusal(error)
        ? { ok: true, value: alone(() => repeat(queued)) }
        : { ok: false, error },
    );
  }
}

function toOutcome<Res>(answer: { value: Res } | { error: ErrorDetail }): Outcome<Res> {
  return "error" in answer
    ? { ok: false, error: fromErrorDetail(answer.error) }
    : { ok: true, value: answer.value };
}

function tooLate(): { ok: false; error: unknown } {
  return { ok: false, error: new DomainError("SYS_003") };
}

/** How many items of a failed bulk call are on their way at once. */
const MAX_ALONE = 16;

function atMost(limit: number): <T>(work: () => Promise<T>) => Promise<T> {
  let running = 0;
  const waiting: (() => void)[] = [];
  return async (work) => {
    if (running < limit) running += 1;
    else await new Promise<void>((resolve) => waiting.push(resolve));
    try {
      return await work();
    } finally {
      // The place goes straight to the next in line.
      const next = waiting.shift();
      if (next) next();
      else running -= 1;
    }
  };
}

/** SYS_003 when the time is up first; what the work does then is nobody's business any more. */
function until<T>(timeoutMs: number, work: Promise<T | Promise<T>>): Promise<T> {
  return new Promise((resolve, reject) => {
    const timer = setTimeout(() => reject(new DomainError("SYS_003")), timeoutMs);
    work.finally(() => clearTimeout(timer)).then(resolve, reject);
  });
}
