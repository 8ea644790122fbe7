import { type ErrorDetail, type ItemContext } from "@wonrail/proto/common/v1/common";
import { childTraceparent, type RequestContext, runInContext } from "../../context";
import { assert, DomainError, isRefusal, isOutcomeUnknown, asOutcomeUnknown } from "../../contract/errors";
import { newId } from "../../contract/ids";
import { type Outcome } from "../../batchQueue";
import { toItemContext } from "../requestContext";
import { fromErrorDetail } from "../wireErrors";
import { type CallOptions } from "./call";
import { type UnaryCall } from "./unaryCall";

export interface BulkCall<Req, Res, Item, Answer> {
  /** The bulk RPC: one answer per item, in order. */
  bulk: (items: Item[], options: CallOptions) => Promise<readonly Answer[]>;
  /** Its twin, for the items of a bulk call that failed as a whole. */
  unary: UnaryCall<Req, Res>;
  toItem: (request: Req, context: ItemContext) => Item;
  fromAnswer: (answer: Answer) => { value: Res } | { error: ErrorDetail };
}

export interface Queued<Req> {
  request: Req;
  context: RequestContext;
  deadlineMs: number;
  mayRepeat: boolean;
}

/** A promise is also an outcome, of an item that continues while the queue moves on. */
export type Later<Res> = Res | Promise<Res>;

/** Never rejects: a failed call becomes an outcome of each item. */
export async function sendBulk<Req, Res, Item, Answer>(
  batch: Queued<Req>[],
  options: BulkCall<Req, Res, Item, Answer>,
): Promise<Outcome<Later<Res>>[]> {
  const nowMs = Date.now();
  const isUnexpired = ({ deadlineMs }: Queued<Req>) => deadlineMs > nowMs;
  if (batch.every(isUnexpired)) return sendUnexpired(batch, options);
  const live = batch.filter(isUnexpired);
  const outcomes = live.length > 0 ? await sendUnexpired(live, options) : [];
  let next = 0;
  const tooLate = { ok: false as const, error: new DomainError("SYS_003") };
  return batch.map((queued) => (isUnexpired(queued) ? outcomes[next++]! : tooLate));
}

async function sendUnexpired<Req, Res, Item, Answer>(
  batch: Queued<Req>[],
  options: BulkCall<Req, Res, Item, Answer>,
): Promise<Outcome<Later<Res>>[]> {
  try {
    const answers = await callBulk(batch, options);
    return answers.map((answer) => toOutcome(options.fromAnswer(answer)));
  } catch (error) {
    const alone = atMost(MAX_ALONE);
    const unsure = isOutcomeUnknown(error);
    return batch.map((queued) =>
      queued.mayRepeat && !isRefusal(error)
        ? { ok: true, value: alone(() => repeat(queued, options.unary, unsure)) }
        : { ok: false, error },
    );
  }
}

async function callBulk<Req, Res, Item, Answer>(
  batch: Queued<Req>[],
  { bulk, toItem }: BulkCall<Req, Res, Item, Answer>,
): Promise<readonly Answer[]> {
  // The call ends with its latest deadline; other items stop waiting by themselves.
  const deadlineMs = batch.reduce((latest, queued) => Math.max(latest, queued.deadlineMs), 0);
  const context = { requestId: newId("req"), traceparent: childTraceparent(), deadlineMs };
  const items = batch.map(({ request, context, deadlineMs }) =>
    toItem(request, toItemContext(context, deadlineMs)),
  );
  const answers = await runInContext(context, () => bulk(items, { timeoutMs: deadlineMs - Date.now() }));
  assert(
    answers.length === items.length,
    `a bulk call gave ${answers.length} answers for ${items.length} items`,
  );
  return answers;
}

async function repeat<Req, Res>(
  { request, context, deadlineMs }: Queued<Req>,
  unary: BulkCall<Req, Res, unknown, unknown>["unary"],
  unsure: boolean,
): Promise<Res> {
  const timeoutMs = deadlineMs - Date.now();
  try {
    return await runInContext({ ...context, deadlineMs }, () => unary(request, { retry: true, timeoutMs }));
  } catch (error) {
    throw unsure ? asOutcomeUnknown(error) : error;
  }
}

function toOutcome<Res>(answer: { value: Res } | { error: ErrorDetail }): Outcome<Res> {
  return "error" in answer
    ? { ok: false, error: fromErrorDetail(answer.error) }
    : { ok: true, value: answer.value };
}

/** Limit of concurrent single calls after a failed bulk call. */
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
