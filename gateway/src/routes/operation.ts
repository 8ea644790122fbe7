import { type z } from "zod";
import { DomainError, type ErrorCode } from "@wonrail/kit/contract/errors";
import { type JsonObject } from "@wonrail/kit/json";
import { type Scope } from "@wonrail/kit/contract/scopes";
import { type Principal } from "../middleware/principal";
import { type BodyLimits } from "../middleware/readBody";
import { type QuotaName } from "../middleware/quotas";

/**
 * Callers of an operation:
 * - `anyone`: no key is looked at;
 * - `session`: any usable key, also while the subscription is not active;
 * - `full`: a usable key of an organisation whose subscription is active.
 */
export type Access = "anyone" | "session" | "full";

export type Tag =
  | "Authentication"
  | "API keys"
  | "Wallets"
  | "Transfers"
  | "Payouts"
  | "Reports"
  | "Charges"
  | "Payments"
  | "Recorded transactions"
  | "Events"
  | "Webhooks"
  | "x402"
  | "Sandbox"
  | "Service";

/**
 * Definition of one public operation: its input, output and refusals. Its path is in
 * routes/index.ts.
 */
export interface Operation<
  P extends Shape = Shape,
  Q extends Shape = Shape,
  B extends Shape = Shape,
  D extends Shape = Shape,
> {
  /** Method name in generated clients. */
  id: string;
  tag: Tag;
  summary: string;
  description?: string;
  access: Access;
  /** For probes: not limited by the caller's address. An operation with a key is always limited. */
  isUnlimited?: true;
  params?: P;
  query?: Q;
  body?: B;
  /** Server-Sent Events: `data` is that of each event. */
  isStream?: true;
  /** Absent: the limits of all bodies. */
  bodyLimits?: BodyLimits;
  /** The status of success. */
  status: 200 | 201;
  data: D;
  /** Own refusals, beyond those that follow from access, body, idempotency and quota. */
  errors: readonly ErrorCode[];
  /** Set for an answer that is streamed: the content types that it can have beside JSON. */
  streamed?: readonly string[];
  /** Takes an Idempotency-Key. */
  idempotent?: true;
  /** Advice for an unknown outcome of a write without Idempotency-Key. */
  whenUnknown?: string;
  /** The longest time that the operation may wait for something to answer, beyond the time of a request. */
  waitMs?: number;
  /** Absent on a main network, and for keys that are not test keys. */
  sandboxOnly?: true;
  /** Counts against the plan. */
  quota?: QuotaName;
  /** Answers in the format of another specification: the data without our envelope. */
  foreignFormat?: ForeignFormat;
  deprecated?: Deprecation;
}

/** Refusals in the format of another specification: fields beside those of the envelope. */
export interface ForeignFormat {
  refusalFields: z.ZodRawShape;
  refusalOf: (refusal: { code: ErrorCode; message: string }) => JsonObject;
}

/** An operation that a later version does not have. Dates are days in UTC, such as 2026-01-31. */
export interface Deprecation {
  since: string;
  /** From this day on the operation can be gone. */
  sunset: string;
  /** The remedy, such as "Use listWallets." */
  advice: string;
}

export type Shape = z.ZodType;

/** A call without its input. */
export interface Call {
  principal: Principal;
  clientAddress: string;
  /** Set when the operation takes a key and the request has one. */
  idempotencyKey: string | undefined;
  /** The quota is used up: only an earlier result under this key may be returned. */
  repeatOnly?: true;
  /** A test key on a test network, where memos can name an outcome. */
  isSandbox: boolean;
}

/** A call without a key has no principal. */
export type OpenCall = Omit<Call, "principal" | "isSandbox">;

export interface Input<P, Q, B> {
  params: P;
  query: Q;
  body: B;
}

export interface Reply<D> {
  data: D;
  /** True for an earlier request's result, which was counted then. */
  replayed?: boolean;
}

/** An answer of any length, in the form of `data` or of another content type. */
export interface StreamReply {
  stream: AnswerStream;
}

export interface AnswerStream {
  contentType: string;
  fileName: string;
  chunks: AsyncIterable<string>;
}

type InputOf<O extends Operation> = Input<Out<O["params"]>, Out<O["query"]>, Out<O["body"]>>;
type Out<S> = S extends z.ZodType ? z.output<S> : undefined;
type CallOf<O extends Operation> = O["access"] extends "anyone" ? OpenCall : Call;

export type Handler<O extends Operation> = (
  input: InputOf<O>,
  call: CallOf<O>,
) => Promise<O["streamed"] extends readonly string[] ? StreamReply : Reply<z.input<O["data"]>>>;

export type Method = "GET" | "POST" | "PATCH" | "DELETE";

/** An operation with its path and handler. */
export interface Route {
  method: Method;
  path: string;
  operation: Operation;
  /** The scope that the key needs. Null: none. */
  scope: Scope | null;
  handler: (input: Input<unknown, unknown, unknown>, call: Call) => Promise<Reply<unknown> | StreamReply>;
}

/** Keeps an operation's exact types, which its handler is checked against. */
export function operation<const O extends Operation>(definition: O): O {
  return definition;
}

/** A route without a scope. routes() adds the scopes of the contract. */
export function route<O extends Operation>(
  method: Method,
  path: string,
  definition: O,
  handler: Handler<O>,
): Route {
  return { method, path, operation: definition, scope: null, handler: handler as Route["handler"] };
}

/** A refusal that is replayed for its Idempotency-Key. */
export class RepeatedRefusal extends DomainError {
  constructor({ code, details, cause }: DomainError) {
    super(code, details, { cause });
  }
}
