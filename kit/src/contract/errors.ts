import type { JsonObject } from "../json";

/**
 * The table of all error codes. A code is API: never rename or reuse one. Each message says the cause,
 * then the remedy. `grpc` is the name of a gRPC status. `retryable` tells a client that the same
 * request may succeed later.
 */
export const errorTable = {
  WAUTH_001: row(
    401,
    "UNAUTHENTICATED",
    "The request has no valid API key. Send a current key in the X-API-Key header, and read details.reason when it is given.",
  ),
  WAUTH_002: row(
    401,
    "UNAUTHENTICATED",
    "The API key has expired. Get a new one with POST /api/wallet-auth/refresh and your secret key.",
  ),
  WAUTH_003: row(
    403,
    "PERMISSION_DENIED",
    "The organisation's subscription is not active. Renew it with the operator of this service.",
  ),
  WAUTH_004: row(
    403,
    "RESOURCE_EXHAUSTED",
    "The plan's limit is reached. Wait until details.resetsAt, or change the plan.",
  ),
  WAUTH_005: row(
    403,
    "PERMISSION_DENIED",
    "The API key lacks the scope that details.scope names. Use a key that has it.",
  ),
  WAUTH_006: row(
    403,
    "PERMISSION_DENIED",
    "The API key may not be used from the address in details.address. Use an address of the key's allow-list.",
  ),
  WAUTH_007: row(404, "NOT_FOUND", "The API key does not exist. Check the id."),
  WAUTH_008: row(
    409,
    "FAILED_PRECONDITION",
    "The organisation has too many usable API keys. Revoke keys that are not used.",
  ),

  WAL_001: row(
    409,
    "ALREADY_EXISTS",
    "This user already has a wallet of this type. Use the wallet that details.walletId names.",
  ),
  WAL_002: row(404, "NOT_FOUND", "The wallet does not exist. Check the id; details.walletId repeats it."),
  WAL_003: row(
    409,
    "FAILED_PRECONDITION",
    "The wallet still holds money. Transfer or refund it, wait for transfers under way, then deactivate again.",
  ),
  WAL_004: row(
    400,
    "FAILED_PRECONDITION",
    "The wallet is deactivated. Use another wallet, or ask the operator of this service to reactivate it.",
  ),
  WAL_005: row(
    409,
    "FAILED_PRECONDITION",
    "The wallet is frozen. See details.freeze, and contact us to lift it.",
  ),

  TRF_001: row(
    400,
    "FAILED_PRECONDITION",
    "The wallet's available balance is too low for this transfer. Charge the wallet or lower the amount.",
  ),
  TRF_002: row(
    400,
    "INVALID_ARGUMENT",
    "The destination address is not valid. Check it, and its upper and lower case letters.",
  ),
  TRF_003: row(
    400,
    "FAILED_PRECONDITION",
    "The wallet's daily transfer limit would be exceeded. Lower the amount, or wait until the next day in Asia/Seoul.",
  ),
  TRF_004: row(
    400,
    "FAILED_PRECONDITION",
    "Wallets of this type do not transfer. Use a NORMAL wallet on both sides.",
  ),
  TRF_005: row(404, "NOT_FOUND", "The transfer does not exist. Check the id."),

  CHG_001: row(400, "INVALID_ARGUMENT", "The charge is below the minimum of 1,000 KRW. Raise the amount."),
  CHG_002: row(404, "NOT_FOUND", "The charge or refund does not exist. Check the id."),
  CHG_003: row(
    400,
    "FAILED_PRECONDITION",
    "The charge is already cancelled. Read it to see its cancellations.",
  ),
  CHG_004: row(
    400,
    "FAILED_PRECONDITION",
    "The 30 days in which a charge can be cancelled are over. Refund the wallet instead.",
  ),
  CHG_005: row(
    400,
    "FAILED_PRECONDITION",
    "The amount is more than what remains of the charge. Cancel at most details.remaining.",
  ),
  CHG_006: row(
    400,
    "FAILED_PRECONDITION",
    "The wallet's available balance is too low to cancel this much. Lower the amount or charge the wallet.",
  ),
  CHG_007: row(400, "FAILED_PRECONDITION", "The wallet cannot be refunded. See details.reason."),
  CHG_008: row(
    400,
    "FAILED_PRECONDITION",
    "The charge is over a limit, see details.reason. Lower the amount, or wait until the next day in Asia/Seoul.",
  ),

  PAY_001: row(
    400,
    "FAILED_PRECONDITION",
    "The available balance is too low. Charge the wallet, or lower the amount.",
  ),
  PAY_002: row(400, "INVALID_ARGUMENT", "The payment is below the minimum of 100 KRW. Raise the amount."),
  PAY_003: row(
    400,
    "FAILED_PRECONDITION",
    "The payment is already cancelled. Read it to see the cancellation.",
  ),
  PAY_004: row(404, "NOT_FOUND", "The payment does not exist. Check the id."),
  PAY_005: row(
    400,
    "FAILED_PRECONDITION",
    "This wallet cannot receive the payment. See details.reason, and name a NORMAL wallet of another user.",
  ),
  PAY_006: row(
    400,
    "FAILED_PRECONDITION",
    "The incentiveAmount is too large. See details.reason, and lower or omit it.",
  ),
  PAY_007: row(
    400,
    "FAILED_PRECONDITION",
    "The payment is too old to be cancelled or refunded. Send a payment or transfer back instead.",
  ),
  PAY_008: row(
    400,
    "FAILED_PRECONDITION",
    "The payment is refunded in part, so it cannot be cancelled. Refund the rest of it.",
  ),
  PAY_009: row(
    400,
    "FAILED_PRECONDITION",
    "The amount is more than what remains of the payment. Refund at most details.remaining.",
  ),

  PYO_001: row(404, "NOT_FOUND", "The payout does not exist. Check the id."),

  TX_001: row(404, "NOT_FOUND", "The recorded transaction does not exist. Check the id."),
  TX_002: row(
    409,
    "ALREADY_EXISTS",
    "A transaction with this txHash is already recorded. Use the record that details.id names.",
  ),
  TX_003: row(
    409,
    "FAILED_PRECONDITION",
    "The transaction's status does not allow this change. Read it; CONFIRMED and FAILED are final.",
  ),
  TX_004: row(400, "FAILED_PRECONDITION", "The schedule can no longer be changed. See details.reason."),

  EVT_001: row(404, "NOT_FOUND", "The event does not exist. Check the id; events are kept for 30 days."),
  EVT_002: row(
    409,
    "OUT_OF_RANGE",
    "The events after this cursor have been deleted. Read the objects again, then continue with after = details.oldestAfter.",
  ),

  WHK_001: row(404, "NOT_FOUND", "The webhook does not exist. Check the id."),
  WHK_002: row(
    400,
    "INVALID_ARGUMENT",
    "Events cannot be sent to this URL. See details.reason, and give an https URL that leads to no private address.",
  ),
  WHK_003: row(
    409,
    "FAILED_PRECONDITION",
    "The organisation has too many webhooks. Delete one that is not used.",
  ),

  SBX_001: row(
    404,
    "NOT_FOUND",
    "The sandbox knows no settlement of this id yet. Check the id, and try again in a second.",
  ),
  SBX_002: row(
    409,
    "FAILED_PRECONDITION",
    "The settlement is sent or ended, see details.state. Hold the next one with the memo sandbox:settlement_held.",
  ),
  SBX_003: row(
    409,
    "FAILED_PRECONDITION",
    "The sandbox cannot make this deposit. See details.reason, and ask the operator of this service.",
  ),

  REQ_001: row(
    400,
    "INVALID_ARGUMENT",
    "The request is not valid. Correct the fields that details.fields names.",
  ),
  // Reserved: today a request whose key is in use joins the running one.
  REQ_002: row(
    409,
    "ABORTED",
    "A request with this Idempotency-Key is still running. Try again shortly with the same key.",
    "retryable",
  ),
  REQ_003: row(
    422,
    "INVALID_ARGUMENT",
    "This Idempotency-Key was used with a different request. Send the first request again, or use a new key for a new request.",
  ),
  REQ_004: row(404, "NOT_FOUND", "There is no such route. Check details.method and details.path."),
  REQ_005: row(
    405,
    "UNIMPLEMENTED",
    "The route does not support this method. The Allow header lists the methods that it supports.",
  ),
  REQ_006: row(
    413,
    "OUT_OF_RANGE",
    "The request is too large. Send a body of at most 64 KiB, 4 MiB for a payout, and headers of at most 8 KiB.",
  ),
  REQ_007: row(
    415,
    "INVALID_ARGUMENT",
    "The body is not uncompressed JSON. Send it as application/json without Content-Encoding.",
  ),
  REQ_008: row(
    400,
    "INVALID_ARGUMENT",
    "The Wonrail-Version is not known. Send one of details.versions, or no such header.",
  ),

  SIG_001: row(403, "PERMISSION_DENIED", "Signing was refused. See details.reason."),

  RATE_001: row(
    429,
    "RESOURCE_EXHAUSTED",
    "Too many requests. Wait for the seconds in the Retry-After header, then repeat.",
    "retryable",
  ),

  SYS_001: row(500, "INTERNAL", "Something went wrong on our side. Quote the requestId when you contact us."),
  SYS_002: row(
    503,
    "UNAVAILABLE",
    "The service is busy or not reachable. This attempt changed nothing. An earlier attempt with the " +
      "same Idempotency-Key may have succeeded: try again with the same key.",
    "retryable",
  ),
  SYS_003: row(
    504,
    "DEADLINE_EXCEEDED",
    "The outcome is not known. Send the request again with the same Idempotency-Key, or as the operation's description says.",
    "retryable",
  ),
  SYS_004: row(501, "UNIMPLEMENTED", "This operation is not available in this release."),
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

/**
 * True when the request itself was refused, so that neither a retry nor blame of a dependency makes
 * sense.
 */
export function isRefusal(error: unknown): error is DomainError {
  return error instanceof DomainError && errorTable[error.code].http < 500 && !error.retryable;
}

/** True when one of our parts was away or failed. */
export function isOutage(error: unknown): error is DomainError {
  return error instanceof DomainError && errorTable[error.code].http >= 500;
}

/** SYS_002 promises that this attempt changed nothing. An earlier attempt with the same key may have succeeded. */
export function isNotExecuted(error: unknown): boolean {
  return error instanceof DomainError && error.code === "SYS_002";
}

/** Causes of an error, for the log only. */
export function causesOf({ cause }: Error): string | undefined {
  const messages: string[] = [];
  for (let each = cause; each instanceof Error; each = each.cause)
    messages.push(each instanceof DomainError ? each.code : each.message);
  return messages.length === 0 ? undefined : messages.join(": ");
}

/** True when the request may have been executed. */
export function isOutcomeUnknown(error: unknown): error is DomainError {
  return error instanceof DomainError && error.code === "SYS_003";
}

/** Turns SYS_002 into SYS_003, because an earlier attempt or step may have been executed. */
export function asOutcomeUnknown(error: unknown): unknown {
  return isNotExecuted(error) ? new DomainError("SYS_003", null, { cause: error }) : error;
}

/** Turns SYS_003 into SYS_002, because a read changes nothing. */
export function asNotExecuted(error: unknown): unknown {
  return isOutcomeUnknown(error)
    ? new DomainError("SYS_002", { retryAfterMs: 1000 }, { cause: error })
    : error;
}

export function isErrorCode(text: unknown): text is ErrorCode {
  return typeof text === "string" && Object.hasOwn(errorTable, text);
}

/** A malformed request, with one entry per invalid field. */
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
