import { type IncomingMessage } from "node:http";
import { type Request, type RequestHandler } from "express";
import { z } from "zod";
import { currentContext, runInContext } from "@wonrail/kit/context";
import { DomainError, asNotExecuted, assert } from "@wonrail/kit/contract/errors";
import { type Log } from "@wonrail/kit/log";
import {
  type Call,
  type Input,
  type OpenCall,
  type Operation,
  RepeatedRefusal,
  type Reply,
  type Route,
  type StreamReply,
} from "../routes/operation";
import { type AddressLimits } from "@wonrail/kit/addressLimits";
import { unknownRoute } from "./answerErrors";
import { requestedVersion } from "./apiVersion";
import { authenticate, type KeyNeeds } from "./authenticate";
import { readBody } from "./readBody";
import { addRateHeaders, sendBare, sendData } from "./envelope";
import { type ApiResponse } from "./exchange";
import { deprecationHeaders } from "./deprecation";
import { idempotencyKey } from "./idempotencyKey";
import { type Principal } from "./principal";
import { type Principals } from "./principals";
import { parseQuery } from "./parseQuery";
import { type Quotas } from "./quotas";
import { type Rates } from "./rates";
import { type RunningCalls } from "./runningCalls";
import { sendStream } from "./sendStream";
import { validate } from "./validate";
import { withTime } from "./withTime";

export interface ServeOptions {
  principals: Principals;
  rates: Rates;
  quotas: Quotas;
  running: RunningCalls;
  /** Limits the streamed answers that one organisation reads at once. */
  streaming: RunningCalls;
  /** For operations that need no key. */
  openRates: AddressLimits;
  addressOf: (req: IncomingMessage) => string;
  /** Refuses a request whose memo asks for it. Null on a main network, where a memo is plain text. */
  rehearse: ((route: Route, body: unknown) => void) | null;
  /** Validates answers against their schemas; a mismatch is SYS_001. For tests and development. */
  checkAnswers: boolean;
  log: Log;
}

/**
 * Runs everything between Express and an operation's handler: authentication, rate, quota, input
 * and answer. One function, because each of ten middlewares would cost more than most steps.
 */
export function serve(route: Route, options: ServeOptions): RequestHandler {
  const { operation, path } = route;
  const answer = operation.access === "anyone" ? serveAnyone : serveKey;
  const ownHeaders = deprecationHeaders(operation.deprecated);
  return (req, res) => {
    const apiResponse = res as ApiResponse;
    const { exchange } = apiResponse.locals;
    exchange.route = path;
    exchange.foreignFormat = operation.foreignFormat;
    exchange.headers.push(...ownHeaders);
    return answer(route, options, req, apiResponse);
  };
}

async function serveAnyone(
  { operation, handler }: Route,
  options: ServeOptions,
  req: Request,
  res: ApiResponse,
): Promise<void> {
  const address = options.addressOf(req);
  const { exchange } = res.locals;
  exchange.clientAddress = address;
  exchange.apiVersion = requestedVersion(req) ?? exchange.apiVersion;
  if (!operation.isUnlimited) {
    options.openRates.check(address);
    options.openRates.take(address);
  }
  const input = await readInput(operation, req);
  const call: OpenCall = { clientAddress: address, idempotencyKey: undefined };
  send(res, operation, await readReply(handler(input, call as Call)), options);
}

async function serveKey(route: Route, options: ServeOptions, req: Request, res: ApiResponse): Promise<void> {
  const { access, waitMs = 0 } = route.operation;
  const needed = access === "session" ? "session" : "full";
  await serveAs({ access: needed, scope: route.scope, waitMs }, options, req, res, (principal) =>
    handle(route, options, principal, req, res),
  );
}

export interface RequestNeeds extends KeyNeeds {
  /** How much longer the work may take than another request. */
  waitMs: number;
}

/** Authenticates the request and does the work as a request of the key's organisation. */
export async function serveAs(
  { waitMs, ...needs }: RequestNeeds,
  options: Pick<ServeOptions, "addressOf" | "principals" | "rates" | "running">,
  req: Request,
  res: ApiResponse,
  work: (principal: Principal) => Promise<void>,
): Promise<void> {
  const { exchange } = res.locals;
  exchange.clientAddress = options.addressOf(req);
  const version = requestedVersion(req);
  if (version !== undefined) exchange.apiVersion = version;
  const principal = await authenticate(options.principals, req, exchange, needs);
  if (version === undefined) exchange.apiVersion = principal.apiVersion;
  if (waitMs > 0)
    exchange.context = { ...exchange.context, deadlineMs: exchange.context.deadlineMs! + waitMs };
  // From here on the log lines and the calls to other services name the organisation.
  await runInContext(exchange.context, () => serveWithinLimits(principal, options, res, work));
}

async function serveWithinLimits(
  principal: Principal,
  options: Pick<ServeOptions, "rates" | "running">,
  res: ApiResponse,
  work: (principal: Principal) => Promise<void>,
): Promise<void> {
  const { rates } = options;
  let refused = true;
  try {
    const waiting = rates.take(principal);
    if (waiting) await waiting;
    refused = false;
  } finally {
    addRateHeaders(res.locals.exchange, rates.state(principal, refused));
  }
  const end = options.running.begin(principal.orgId);
  try {
    await work(principal);
  } finally {
    end();
  }
}

async function handle(
  route: Route,
  options: ServeOptions,
  principal: Principal,
  req: Request,
  res: ApiResponse,
): Promise<void> {
  const { operation, handler, method } = route;
  if (operation.sandboxOnly && !principal.isTestKey) throw unknownRoute(req);
  const input = await readInput(operation, req);
  const rehearse = principal.isTestKey ? options.rehearse : null;
  rehearse?.(route, input.body);
  const key = operation.idempotent ? idempotencyKey(req) : undefined;
  const { clientAddress } = res.locals.exchange;
  const call: Call = { principal, clientAddress, idempotencyKey: key, isSandbox: rehearse !== null };
  try {
    if (operation.streamed)
      return await stream(route, options, principal, req, res, () => handler(input, call));
    const work = () => readReply(handler(input, call));
    const repeatWork = () => readReply(handler(input, { ...call, repeatOnly: true }));
    const reply = await (operation.quota
      ? options.quotas
          .count(principal.orgId, operation.quota, inTime(work))
          .catch((error: unknown) => repeat(error, key, repeatWork))
      : work());
    send(res, operation, reply, options);
  } catch (error) {
    if (error instanceof RepeatedRefusal) markReplayed(res);
    throw method === "GET" ? asNotExecuted(error) : error;
  }
}

async function readReply(reply: Promise<Reply<unknown> | StreamReply>): Promise<Reply<unknown>> {
  const given = await reply;
  assert(!("stream" in given), "the operation declares no stream");
  return given;
}

/** Refusals before the first byte are ordinary answers. A key that is revoked later gets no more bytes. */
async function stream(
  { operation, scope }: Route,
  { streaming, principals, log }: ServeOptions,
  { orgId }: Principal,
  req: Request,
  res: ApiResponse,
  work: () => Promise<Reply<unknown> | StreamReply>,
): Promise<void> {
  const end = streaming.begin(orgId);
  const needs = { access: operation.access === "session" ? "session" : "full", scope } as const;
  try {
    const reply = await work();
    assert("stream" in reply, "the operation declares a stream");
    const check = () => withTime(() => authenticate(principals, req, res.locals.exchange, needs));
    await sendStream(res, reply.stream, { log, authenticate: check });
  } finally {
    end();
  }
}

/**
 * A used-up quota does not hide earlier results: a repetition with the same key gets the answer.
 */
async function repeat<R>(error: unknown, key: string | undefined, ask: () => Promise<R>): Promise<R> {
  if (key === undefined || !isUsedUp(error)) throw error;
  return ask().catch((again: unknown) => {
    throw isUsedUp(again) ? error : again;
  });
}

function isUsedUp(error: unknown): boolean {
  return error instanceof DomainError && error.code === "WAUTH_004";
}

async function readInput(
  { params, query, body, bodyLimits }: Operation,
  req: Request,
): Promise<Input<unknown, unknown, unknown>> {
  const given = parseQuery(req.url);
  const input = {
    params: params && validate(params, req.params, "path"),
    query: query ? validate(query, given, "query") : refuseAll(given),
    body: body ? await readValid(body, req, bodyLimits) : await refuseBody(req),
  };
  refuseLate();
  return input;
}

/**
 * Refuses after the deadline, for example when the body arrived late. At this point nothing has
 * been executed, which a call without time could not guarantee.
 */
function refuseLate(): void {
  const { deadlineMs = Infinity } = currentContext() ?? {};
  if (Date.now() >= deadlineMs) throw new DomainError("SYS_002", { retryAfterMs: 1000 });
}

/**
 * Checks the deadline again after the wait for a quota unit. This refusal returns the unit; an
 * unknown outcome would keep it.
 */
function inTime<R>(work: () => Promise<R>): () => Promise<R> {
  return async () => {
    refuseLate();
    return work();
  };
}

async function readValid(
  schema: NonNullable<Operation["body"]>,
  req: Request,
  limits: Operation["bodyLimits"],
): Promise<unknown> {
  const { value, problems } = await readBody(req, limits);
  return validate(schema, value, "body", problems);
}

/**
 * Accepts an empty body or an empty object, because some clients send one. Ignores the body of a
 * GET.
 */
async function refuseBody(req: Request): Promise<undefined> {
  if (req.method === "GET" || req.method === "HEAD") return;
  const { value, problems } = await readBody(req);
  if (value !== undefined || problems.length > 0) validate(NOTHING, value, "body", problems);
}

function refuseAll(given: Record<string, string>): undefined {
  for (const _ in given) validate(NOTHING, given, "query");
}

function send(
  res: ApiResponse,
  operation: Operation,
  reply: Reply<unknown>,
  { checkAnswers }: ServeOptions,
): void {
  if (checkAnswers) operation.data.parse(reply.data);
  if (reply.replayed && operation.idempotent) markReplayed(res);
  if (operation.foreignFormat) sendBare(res, operation.status, reply.data);
  else sendData(res, operation.status, reply.data);
}

function markReplayed(res: ApiResponse): void {
  res.locals.exchange.headers.push("Idempotent-Replayed", "true");
}

const NOTHING = z.strictObject({});
