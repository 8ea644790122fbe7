import type { JsonObject } from "../json";

/**
 * The one table of everything that can be refused. A code is API: it is never renamed or reused.
 * `grpc` is the name of a gRPC status; `retryable` tells a client that the same request may succeed later.
 */
export const errorTable = {
  WAUTH_001: row(
    401,
    "UNAUTHENTICATED",
    "The API key is not valid. Check the X-API-Key header, or refresh the key.",
  ),
  WAUTH_002: row(401, "UNAUTHENTICATED", "The API key has expired. Refresh it with your secret key."),
  WAUTH_003: row(
    403,
    "PERMISSION_DENIED",
    "The organisation's subscription is not active. Renew it to go on.",
  ),
  WAUTH_004: row(
    403,
    "RESOURCE_EXHAUSTED",
    "The plan's limit is reached. Wait for the reset or change the plan.",
  ),

  WAL_001: row(409, "ALREADY_EXISTS", "This user already has a wallet of this type."),
  WAL_002: row(404, "NOT_FOUND", "The wallet does not exist."),
  WAL_003: row(
    409,
    "FAILED_PRECONDITION",
    "The wallet still holds money. What is held for a transfer on its way counts too.",
  ),
  WAL_004: row(400, "FAILED_PRECONDITION", "The wallet is deactivated."),
  WAL_005: row(
    409,
    "FAILED_PRECONDITION",
    "The wallet is frozen. See details.freeze, and contact us to lift it.",
  ),

  TRF_001: row(400, "FAILED_PRECONDITION", "The balance is too low for this transfer."),
  TRF_002: row(400, "INVALID_ARGUMENT", "The destination address is not valid."),
  TRF_003: row(400, "FAILED_PRECONDITION", "The wallet's daily transfer limit would be exceeded."),
  TRF_004: row(400, "FAILED_PRECONDITION", "Wallets of this type do not transfer."),
  TRF_005: row(404, "NOT_FOUND", "The transfer does not exist."),

  CHG_001: row(400, "INVALID_ARGUMENT", "The charge is below the minimum of 1,000 KRW."),
  CHG_002: row(404, "NOT_FOUND", "The charge or refund does not exist."),
  CHG_003: row(400, "FAILED_PRECONDITION", "The charge is already cancelled."),
  CHG_004: row(400, "FAILED_PRECONDITION", "The 30 days in which a charge can be cancelled are over."),
  CHG_005: row(400, "FAILED_PRECONDITION", "The amount is more than what remains of the charge."),
  CHG_006: row(400, "FAILED_PRECONDITION", "The wallet's balance is too low to cancel this much."),
  CHG_007: row(400, "FAILED_PRECONDITION", "The wallet cannot be refunded. See details.reason."),
  CHG_008: row(400, "FAILED_PRECONDITION", "The organisation's daily charge limit would be exceeded."),

  PAY_001: row(400, "FAILED_PRECONDITION", "The balance is too low for this payment."),
  PAY_002: row(400, "INVALID_ARGUMENT", "The payment is below the minimum of 100 KRW."),
  PAY_003: row(400, "FAILED_PRECONDITION", "The payment is already cancelled."),
  PAY_004: row(404, "NOT_FOUND", "The payment does not exist."),
  PAY_005: row(400, "FAILED_PRECONDITION", "This wallet cannot receive this payment."),
  PAY_006: row(
    400,
    "FAILED_PRECONDITION",
    "The incentiveAmount is more than the INCENTIVE balance or the amount.",
  ),
  PAY_007: row(400, "FAILED_PRECONDITION", "The payment is too long ago to be cancelled."),

  TX_001: row(404, "NOT_FOUND", "The transaction does not exist."),
  TX_002: row(409, "ALREADY_EXISTS", "A transaction with this txHash is already recorded."),
  TX_003: row(409, "FAILED_PRECONDITION", "The transaction's status does not allow this change."),
  TX_004: row(400, "FAILED_PRECONDITION", "The transaction is not scheduled or no longer pending."),

  REQ_001: row(400, "INVALID_ARGUMENT", "The request is not valid. See details.fields."),
  // Reserved: a request whose key is in use joins the one that runs. Clients are to take it for "again".
  REQ_002: row(
    409,
    "ABORTED",
    "A request with this Idempotency-Key is still running. Try again shortly.",
    "retryable",
  ),
  REQ_003: row(422, "INVALID_ARGUMENT", "This Idempotency-Key was used with a different request."),
  REQ_004: row(404, "NOT_FOUND", "There is no such route."),
  REQ_005: row(405, "UNIMPLEMENTED", "The route does not support this method."),
  REQ_006: row(413, "OUT_OF_RANGE", "The request is larger than what is accepted."),
  REQ_007: row(415, "INVALID_ARGUMENT", "The body must be uncompressed JSON sent as application/json."),

  SIG_001: row(403, "PERMISSION_DENIED", "Signing was refused. See details.reason."),

  RATE_001: row(
    429,
    "RESOURCE_EXHAUSTED",
    "Too many requests. Wait as long as Retry-After says.",
    "retryable",
  ),

  SYS_001: row(500, "INTERNAL", "Something went wrong on our side. Quote the requestId when you contact us."),
  SYS_002: row(
    503,
    "UNAVAILABLE",
    "The service is busy or not reachable. This attempt changed nothing. An earlier attempt with the same Idempotency-Key may have succeeded: try again with the same key.",
    "retryable",
  ),
  SYS_003: row(
    504,
    "DEADLINE_EXCEEDED",
    "The outcome is not known. Retry with the same Idempotency-Key, or, where the operation takes none, as the API's document says.",
    "retryable",
  ),
  SYS_004: row(501, "UNIMPLEMENTED", "This operation is not built yet."),
} as const satisfies Record<string, ErrorRow>;

export type ErrorCode = keyof typeof errorTable;

export interface ErrorRow {
  readonly http: number;
  readonly grpc: GrpcStatusName;
  readonly retryable: boolean;
  readonly message: string;
}

export type GrpcStatusName =
  | "INVALID_ARGUMENT"
  | "DEADLINE_EXCEEDED"
  | "NOT_FOUND"
  | "ALREADY_EXISTS"
  | "PERMISSION_DENIED"
  | "RESOURCE_EXHAUSTED"
  | "FAILED_PRECONDITION"
  | "ABORTED"
  | "OUT_OF_RANGE"
  | "UNIMPLEMENTED"
  | "INTERNAL"
  | "UNAVAILABLE"
  | "UNAUTHENTICATED";

/** An expected refusal. Throwing it inside a transaction rolls the transaction back. */
export class DomainError extends Error {
  override readonly name = "DomainError";

  constructor(
    readonly code: ErrorCode,
    readonly details: JsonObject | null = null,
    options?: { cause?: unknown },
  ) {
    super(errorTable[code].message, options);
  }

  get retryable(): boolean {
    return errorTable[this.code].retryable;
  }
}

/** True when the request was refused for a reason of its own, so that repeating it or blaming a dependency makes no sense. */
export function isRefusal(error: unknown): error is DomainError {
  return error instanceof DomainError && errorTable[error.code].http < 500 && !error.retryable;
}

/** True when something of ours was away or failed, whatever was asked of it. */
export function isOutage(error: unknown): error is DomainError {
  return error instanceof DomainError && errorTable[error.code].http >= 500;
}

/** SYS_002 promises that this attempt changed nothing. An earlier attempt with the same key may have succeeded. */
export function isUndone(error: unknown): boolean {
  return error instanceof DomainError && error.code === "SYS_002";
}

/** What an error came of, for the log: callers are not shown it. */
export function causesOf({ cause }: Error): string | undefined {
  const messages: string[] = [];
  for (let each = cause; each instanceof Error; each = each.cause)
    messages.push(each instanceof DomainError ? each.code : each.message);
  return messages.length === 0 ? undefined : messages.join(": ");
}

/** It may have been done, and nobody said so. */
export function isUnknown(error: unknown): error is DomainError {
  return error instanceof DomainError && error.code === "SYS_003";
}

/** What such a promise is worth to the whole when a try or a step before it may have done something: the outcome is unknown. */
export function perhapsDone(error: unknown): unknown {
  return isUndone(error) ? new DomainError("SYS_003", null, { cause: error }) : error;
}

/** Who only asked has done nothing, whatever became of the question. */
export function nothingDone(error: unknown): unknown {
  return isUnknown(error) ? new DomainError("SYS_002", { retryAfterMs: 1000 }, { cause: error }) : error;
}

export function isErrorCode(text: unknown): text is ErrorCode {
  return typeof text === "string" && Object.hasOwn(errorTable, text);
}

/** A request that breaks the contract's form: one entry for each field that is wrong. */
export function invalidRequest(fields: FieldProblem[]): DomainError {
  return new DomainError("REQ_001", { fields: fields.map(({ path, message }) => ({ path, message })) });
}

export interface FieldProblem {
  path: string;
  message: string;
}

/** The fields for which a request was refused at the door; none of anything else. */
export function refusedFields(error: unknown): string[] {
  if (!(error instanceof DomainError) || error.code !== "REQ_001") return [];
  return ((error.details?.fields as FieldProblem[] | undefined) ?? []).map(({ path }) => path);
}

/** Programmer mistakes stop the work; they are never shown to a caller. */
export function assert(condition: unknown, message: string): asserts condition {
  if (!condition) throw new Error(`assertion failed: ${message}`);
}

/** For the default branch of a switch over a union: does not compile when a case is missing. */
export function never(value: never): never {
  throw new Error(`unexpected value: ${JSON.stringify(value)}`);
}

function row(http: number, grpc: GrpcStatusName, message: string, retryable?: "retryable"): ErrorRow {
  return { http, grpc, message, retryable: retryable === "retryable" };
}
