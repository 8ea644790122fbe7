import { describeCauses } from "../internal/failureCauses.ts";
import { redact, redactDeep } from "../internal/redact.ts";
import { errorCodes } from "./errorCodes.ts";

/** An error code of the service. */
export type ServiceErrorCode = keyof typeof errorCodes;

/** Codes of failures before a request is sent, or without an answer. */
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
    message: "The response does not come from the service. Check the baseUrl and proxies.",
  },
  SDK_005: { kind: "waitTimeout", retryable: false, message: "The awaited state was not reached in time." },
  SDK_006: { kind: "configuration", retryable: false, message: "The client is not configured correctly." },
} as const;

/** An error code of this library. */
export type ClientErrorCode = keyof typeof clientErrorCodes;
/** Every error code that this version knows. */
export type ErrorCode = ServiceErrorCode | ClientErrorCode;
/** A code of a newer service. Editors still offer the known codes. */
export type UnknownErrorCode = string & Record<never, never>;
/** Kind of an error. Each kind has a class. */
export type ErrorKind =
  | (typeof errorCodes)[ServiceErrorCode]["kind"]
  | (typeof clientErrorCodes)[ClientErrorCode]["kind"];

/** Meaning of an error code. */
export interface ErrorMeaning {
  /** Kind of the error, which selects its class. */
  readonly kind: ErrorKind;
  /** HTTP status, for codes of the service. */
  readonly status?: number;
  /** True when the same request may succeed later. */
  readonly retryable: boolean;
  /** Cause and remedy in a sentence. */
  readonly message: string;
}

/** Meaning of every error code. */
export const errorMeanings: { readonly [Code in ErrorCode]: ErrorMeaning } = {
  ...errorCodes,
  ...clientErrorCodes,
};

/** True for a code that this version knows. Narrows the code for an exhaustive switch. */
export function isErrorCode(code: string): code is ErrorCode {
  return Object.hasOwn(errorMeanings, code);
}

/** Facts about an error, such as `fields`, `available` or `reason`. */
export type ErrorDetails = Record<string, unknown>;

/** Property with the names of an error's classes. `instanceof` reads it across copies of the library. */
const NAMES = Symbol.for("@wonrail/sdk error names");

/** Values for the construction of an error. See the fields of {@link ServiceError}. */
export interface ServiceErrorFields {
  /** Error code. */
  code: ErrorCode | UnknownErrorCode;
  /** Default: the message of the code. */
  message?: string | undefined;
  /** HTTP status of the answer, if one came. */
  status?: number | undefined;
  /** Facts about the error. */
  details?: ErrorDetails | null | undefined;
  /** Id of the request. */
  requestId?: string | undefined;
  /** Idempotency key of the request. */
  idempotencyKey?: string | undefined;
  /** Delay that the service asks for. */
  retryAfterMs?: number | undefined;
  /** Default: the value of the code. */
  retryable?: boolean | undefined;
  /** Default: false. */
  outcomeUnknown?: boolean | undefined;
  /** Default: false. */
  replayed?: boolean | undefined;
  /** The error behind this one. */
  cause?: unknown;
}

/** Base class of all errors of the library. Decide by `code` or by class: messages may change. */
export class ServiceError extends Error {
  /** Error code. Narrow it with {@link isErrorCode} for an exhaustive switch. */
  readonly code: ErrorCode | UnknownErrorCode;
  /** HTTP status of the answer, if one came. */
  readonly status: number | undefined;
  /** Facts about the error. `details.fields` lists invalid fields. */
  readonly details: ErrorDetails | null;
  /** Id of the request, for support. Undefined when a check refused the call before sending. */
  readonly requestId: string | undefined;
  /**
   * Key of the request. For at least 31 days a repetition with it cannot move money twice. The key of
   * a recorded transaction never expires.
   */
  readonly idempotencyKey: string | undefined;
  /** Delay that the service asks for before the next attempt. */
  readonly retryAfterMs: number | undefined;
  /** True when the same request may succeed later. */
  readonly retryable: boolean;
  /** True when the call may have been executed. Repeat it with `idempotencyKey`, or read the state. */
  readonly outcomeUnknown: boolean;
  /**
   * True when the refusal was stored for the idempotency key by an earlier request. After the cause
   * is removed, use a new key.
   */
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

  /** Accepts errors of other copies of the library, such as its CommonJS build. */
  static override [Symbol.hasInstance](value: unknown): boolean {
    if (Function.prototype[Symbol.hasInstance].call(this, value)) return true;
    const name = names.get(this);
    const found = value instanceof Error ? (value as { [NAMES]?: unknown })[NAMES] : undefined;
    return name !== undefined && Array.isArray(found) && found.includes(name);
  }

  /** Code, message, invalid fields and request id in a line. */
  override toString(): string {
    const fields = describeFields(this.details);
    const request = this.requestId === undefined ? "" : ` (requestId ${this.requestId})`;
    return redact(`${this.name} ${this.code}: ${this.message}${fields}${request}`);
  }

  /** For logs. Leaves out the cause, which may hold anything. */
  toJSON(): Record<string, unknown> {
    const { name, code, status, message, details, requestId, idempotencyKey } = this;
    const { retryable, outcomeUnknown, replayed } = this;
    const facts = { name, code, status, message, details, requestId, idempotencyKey };
    return { ...facts, retryable, outcomeUnknown, replayed };
  }

  /** Output of console.log in Node. */
  [Symbol.for("nodejs.util.inspect.custom")](): string {
    const { name: _name, message: _message, ...fields } = this.toJSON();
    const causes = describeCauses(this.cause);
    const cause = causes === undefined ? "" : `\n  cause: ${causes}`;
    return redact(`${this.stack ?? this.message}\n  ${JSON.stringify(fields)}${cause}`);
  }
}

/** The API key is not valid (WAUTH_001) or has expired (WAUTH_002). */
export class AuthenticationError extends ServiceError {}
/** The subscription or the plan does not allow the call. */
export class PermissionError extends ServiceError {}
/** The object does not exist, or belongs to another organisation. */
export class NotFoundError extends ServiceError {}
/** The object exists already, or its state does not allow the change. */
export class ConflictError extends ServiceError {}
/** The request is invalid. `details.fields` lists the fields. */
export class InvalidRequestError extends ServiceError {}
/** A rule refuses the call: low balance, a limit, a deactivated wallet. No balance changed. */
export class RefusedError extends ServiceError {}
/** Too many requests. Wait for `retryAfterMs`. */
export class RateLimitError extends ServiceError {}
/** The service failed. Quote the `requestId` to support. */
export class ServerError extends ServiceError {}
/** The service is busy and did not execute the call. Call again later. */
export class UnavailableError extends ServerError {}
/** The call may have been executed. Repeat it with the error's `idempotencyKey`. */
export class OutcomeUnknownError extends ServerError {}
/** No answer came. `outcomeUnknown` is false when the request was never sent. */
export class ConnectionError extends ServiceError {}
/** No answer came within `timeoutMs`. */
export class ConnectionTimeoutError extends ConnectionError {}
/** The caller's signal ended the call. */
export class AbortedError extends ServiceError {}
/** The response does not come from the service, but from a proxy or another server. */
export class BadAnswerError extends ServiceError {}
/** An option of the client or of a call is missing, invalid or misspelt. */
export class ConfigurationError extends ServiceError {}

/** `waitFor` or `waitForStatus` reached its time limit. */
export class WaitTimeoutError<State = unknown> extends ServiceError {
  /** The state of the last read. Undefined when no read succeeded. */
  readonly lastState: State | undefined;

  constructor(fields: Omit<ServiceErrorFields, "code"> & { lastState: State | undefined }) {
    super({ ...fields, code: "SDK_005" });
    this.lastState = fields.lastState;
  }

  /** For logs, with the last state. */
  override toJSON(): Record<string, unknown> {
    return { ...super.toJSON(), lastState: redactDeep(this.lastState) };
  }
}

/** Names as string keys: minifiers rename classes. */
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
const names = new Map<unknown, string>(Object.entries(named).map(([name, type]) => [type, name]));

/** Returns `amount must be …; memo must be …`, or an empty string without invalid fields. */
function describeFields(details: ErrorDetails | null): string {
  const fields = Array.isArray(details?.["fields"]) ? (details["fields"] as unknown[]) : [];
  const described = fields.flatMap((field) => {
    const { path, message } = (field ?? {}) as { path?: unknown; message?: unknown };
    return typeof path === "string" && typeof message === "string" ? [`${path} ${message}`] : [];
  });
  return described.length === 0 ? "" : ` ${described.join("; ")}.`;
}

function namesOf(type: unknown): string[] {
  const found: string[] = [];
  for (let next = type; typeof next === "function"; next = Object.getPrototypeOf(next) as unknown) {
    const name = names.get(next);
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

/** Creates the error of the class that fits the code, or the status for an unknown code. */
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
