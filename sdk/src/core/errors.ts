import { causesTold } from "../internal/causes.ts";
import { redact, redactDeep } from "../internal/redact.ts";
import { errorCodes } from "./errorCodes.ts";

/** A code of the service's table. */
export type ServiceErrorCode = keyof typeof errorCodes;

/** What goes wrong before a request is sent or without an answer to it. */
export const clientErrorCodes = {
  SDK_001: {
    kind: "connection",
    retryable: true,
    message: "The service could not be reached, or the connection broke.",
  },
  SDK_002: { kind: "timeout", retryable: true, message: "The service did not answer in time." },
  SDK_003: { kind: "aborted", retryable: false, message: "The call was aborted by its signal." },
  SDK_004: {
    kind: "badAnswer",
    retryable: false,
    message: "The answer is not one of the service. Check the baseUrl.",
  },
  SDK_005: { kind: "waitTimeout", retryable: false, message: "The awaited state was not reached in time." },
  SDK_006: { kind: "configuration", retryable: false, message: "The client is not configured correctly." },
} as const;

export type ClientErrorCode = keyof typeof clientErrorCodes;
export type ErrorCode = ServiceErrorCode | ClientErrorCode;
/** A code of a service that is newer than this library. Beside it, editors still offer the known ones. */
export type UnknownErrorCode = string & Record<never, never>;
export type ErrorKind =
  (typeof errorCodes)[ServiceErrorCode]["kind"] | (typeof clientErrorCodes)[ClientErrorCode]["kind"];

/** What one code means: its kind, its HTTP status if it comes from the service, and whether trying again makes sense. */
export interface ErrorMeaning {
  readonly kind: ErrorKind;
  readonly status?: number;
  readonly retryable: boolean;
  readonly message: string;
}

/** Every code and what it means. Does not compile when a code of either table is missing. */
export const errorMeanings: { readonly [Code in ErrorCode]: ErrorMeaning } = {
  ...errorCodes,
  ...clientErrorCodes,
};

/** Narrows a code for an exhaustive switch: a newer service may have codes that this version does not know. */
export function isErrorCode(code: string): code is ErrorCode {
  return Object.hasOwn(errorMeanings, code);
}

export type ErrorDetails = Record<string, unknown>;

/** Where an error has the names of its class and of those above it, for {@link ServiceError}'s instanceof. */
const NAMES = Symbol.for("@wonrail/sdk error names");

export interface ServiceErrorFields {
  code: ErrorCode | UnknownErrorCode;
  message?: string | undefined;
  /** The HTTP status of the answer, if there was one. */
  status?: number | undefined;
  details?: ErrorDetails | null | undefined;
  requestId?: string | undefined;
  idempotencyKey?: string | undefined;
  retryAfterMs?: number | undefined;
  retryable?: boolean | undefined;
  outcomeUnknown?: boolean | undefined;
  replayed?: boolean | undefined;
  cause?: unknown;
}

/** Every failure of the library. Decide by `code` or by class; messages may be reworded. */
export class ServiceError extends Error {
  /** Narrow it with {@link isErrorCode} for an exhaustive switch. */
  readonly code: ErrorCode | UnknownErrorCode;
  readonly status: number | undefined;
  readonly details: ErrorDetails | null;
  /** Quote it to us. The request was sent with it, so it is there when no answer came too; undefined when a check refused the call before. */
  readonly requestId: string | undefined;
  /** Sent with the request: for at least 31 days calling again with it cannot move money twice. That of a recorded transaction has no end. */
  readonly idempotencyKey: string | undefined;
  /** How long the service asks to wait. */
  readonly retryAfterMs: number | undefined;
  /** The same request may succeed later. */
  readonly retryable: boolean;
  /** The call may have been done, whatever the class: with an `idempotencyKey`, call again with it. */
  readonly outcomeUnknown: boolean;
  /** An earlier request with the same key was refused so, and the refusal holds for the key: what was mended since needs a new one. */
  readonly replayed: boolean;

  constructor(fields: ServiceErrorFields) {
    const meaning = isErrorCode(fields.code) ? errorMeanings[fields.code] : undefined;
    const message = fields.message ?? meaning?.message ?? "The service refused the request.";
    super(redact(message), fields.cause === undefined ? undefined : { cause: fields.cause });
    this.name = names.get(new.target) ?? new.target.name;
    Object.defineProperty(this, NAMES, { value: namesOf(new.target) });
    this.code = fields.code;
    this.status = fields.status;
    this.details = redactDeep(fields.details ?? null);
    this.requestId = fields.requestId;
    this.idempotencyKey = fields.idempotencyKey;
    this.retryAfterMs = fields.retryAfterMs;
    this.retryable = fields.retryable ?? meaning?.retryable ?? false;
    this.outcomeUnknown = fields.outcomeUnknown ?? false;
    this.replayed = fields.replayed ?? false;
  }

  /** Also of another copy of the library: its ES modules and its CommonJS modules are two, and a dependency may bring a third. */
  static override [Symbol.hasInstance](value: unknown): boolean {
    if (Function.prototype[Symbol.hasInstance].call(this, value)) return true;
    const name = names.get(this);
    const told = value instanceof Error ? (value as { [NAMES]?: unknown })[NAMES] : undefined;
    return name !== undefined && Array.isArray(told) && told.includes(name);
  }

  /** For logs. Without the cause, which may be anybody's object with anything in it. */
  toJSON(): Record<string, unknown> {
    const { name, code, status, message, details, requestId, idempotencyKey } = this;
    const { retryable, outcomeUnknown, replayed } = this;
    const told = { name, code, status, message, details, requestId, idempotencyKey };
    return { ...told, retryable, outcomeUnknown, replayed };
  }

  /** What console.log shows in Node. */
  [Symbol.for("nodejs.util.inspect.custom")](): string {
    const { name: _name, message: _message, ...fields } = this.toJSON();
    const told = causesTold(this.cause);
    const cause = told === undefined ? "" : `\n  cause: ${told}`;
    return redact(`${this.stack ?? this.message}\n  ${JSON.stringify(fields)}${cause}`);
  }
}

/** The API key is not valid (WAUTH_001) or has expired (WAUTH_002). */
export class AuthenticationError extends ServiceError {}
/** The subscription or the plan does not allow it. */
export class PermissionError extends ServiceError {}
/** It does not exist, or belongs to another organisation. */
export class NotFoundError extends ServiceError {}
/** It exists already, or its state does not allow this. */
export class ConflictError extends ServiceError {}
/** The request breaks the contract's form; `details.fields`, where there are any, says in what. */
export class InvalidRequestError extends ServiceError {}
/** A rule says no: too little balance, a limit, a deactivated wallet. Nothing changed. */
export class RefusedError extends ServiceError {}
/** Too many requests; `retryAfterMs` says how long to wait. */
export class RateLimitError extends ServiceError {}
/** Something went wrong on the service's side. */
export class ServerError extends ServiceError {}
/** The service is busy or not reachable. Nothing was done. */
export class UnavailableError extends ServerError {}
/** It is not known whether it was done. Call again with the error's `idempotencyKey`. */
export class OutcomeUnknownError extends ServerError {}
/** No answer: the service could not be reached, or the connection broke. */
export class ConnectionError extends ServiceError {}
/** No answer in time. */
export class ConnectionTimeoutError extends ConnectionError {}
/** The caller's signal ended the call. */
export class AbortedError extends ServiceError {}
/** Something answered that is not the service. */
export class BadAnswerError extends ServiceError {}
/** The client, or a call with options of its own, was given something wrong, or not what it needs. */
export class ConfigurationError extends ServiceError {}

/** waitForStatus gave up; `lastState` is what it saw last, undefined if it never got an answer. */
export class WaitTimeoutError<State = unknown> extends ServiceError {
  readonly lastState: State | undefined;

  constructor(fields: Omit<ServiceErrorFields, "code"> & { lastState: State | undefined }) {
    super({ ...fields, code: "SDK_005" });
    this.lastState = fields.lastState;
  }

  override toJSON(): Record<string, unknown> {
    return { ...super.toJSON(), lastState: redactDeep(this.lastState) };
  }
}

/** Written out: what makes bundles small gives classes other names. */
const named = {
  ServiceError,
  AuthenticationError,
  PermissionError,
  NotFoundError,
  ConflictError,
  InvalidRequestError,
  RefusedError,
  RateLimitError,
  ServerError,
  UnavailableError,
  OutcomeUnknownError,
  ConnectionError,
  ConnectionTimeoutError,
  AbortedError,
  BadAnswerError,
  ConfigurationError,
  WaitTimeoutError,
};
const names = new Map<unknown, string>(Object.entries(named).map(([name, one]) => [one, name]));

function namesOf(type: unknown): string[] {
  const found: string[] = [];
  for (let one = type; typeof one === "function"; one = Object.getPrototypeOf(one) as unknown) {
    const name = names.get(one);
    if (name !== undefined) found.push(name);
  }
  return found;
}

const classes: {
  readonly [Kind in Exclude<ErrorKind, "waitTimeout">]: new (fields: ServiceErrorFields) => ServiceError;
} = {
  authentication: AuthenticationError,
  permission: PermissionError,
  notFound: NotFoundError,
  conflict: ConflictError,
  invalidRequest: InvalidRequestError,
  refused: RefusedError,
  rateLimit: RateLimitError,
  server: ServerError,
  unavailable: UnavailableError,
  outcomeUnknown: OutcomeUnknownError,
  connection: ConnectionError,
  timeout: ConnectionTimeoutError,
  aborted: AbortedError,
  badAnswer: BadAnswerError,
  configuration: ConfigurationError,
};

/** The error of the class that fits the code; for a code of a newer service, the one that fits the status. */
export function serviceError(fields: ServiceErrorFields): ServiceError {
  const kind = kindOf(fields);
  return kind === "waitTimeout"
    ? new WaitTimeoutError({ ...fields, lastState: undefined })
    : new classes[kind](fields);
}

export function kindOf({ code, status }: Pick<ServiceErrorFields, "code" | "status">): ErrorKind {
  return isErrorCode(code) ? errorMeanings[code].kind : kindOfStatus(status);
}

const kindsByStatus: Record<number, ErrorKind> = {
  401: "authentication",
  403: "permission",
  404: "notFound",
  408: "timeout",
  409: "conflict",
  429: "rateLimit",
  503: "unavailable",
  504: "outcomeUnknown",
};

function kindOfStatus(status = 0): ErrorKind {
  return kindsByStatus[status] ?? (status >= 500 ? "server" : "invalidRequest");
}
