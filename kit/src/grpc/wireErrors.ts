import { Metadata, type ServiceError, status } from "@grpc/grpc-js";
import { ErrorDetail } from "@wonrail/proto/common/v1/common";
import { DomainError, errorTable, isErrorCode } from "../contract/errors";
import { type Json, type JsonObject } from "../json";

export const ERROR_TRAILER = "wonrail-error-bin";

/**
 * Larger details are omitted: a trailer shares HTTP/2's 64 KiB for headers, and base64 adds a
 * third.
 */
const MAX_DETAILS_BYTES = 16 * 1024;

/** A refusal in wire form. Other errors become SYS_001, so that no internals show. */
export function toErrorDetail(error: unknown): ErrorDetail {
  if (!(error instanceof DomainError)) return { code: "SYS_001", detailsJson: undefined };
  const detailsJson = error.details === null ? undefined : JSON.stringify(error.details);
  return { code: error.code, detailsJson: fits(detailsJson) ? detailsJson : undefined };
}

/** True for a refusal that this release knows, with details that are an object. */
export function isErrorDetail({ code, detailsJson }: ErrorDetail): boolean {
  return isErrorCode(code) && (detailsJson === undefined || parseDetails(detailsJson) !== null);
}

/** A code of a newer server becomes SYS_001, with that code in the cause. */
export function fromErrorDetail(detail: ErrorDetail): DomainError {
  if (isErrorCode(detail.code)) return new DomainError(detail.code, parseDetails(detail.detailsJson));
  return new DomainError("SYS_001", null, {
    cause: new Error(`unknown error code ${detail.code.slice(0, 40)}`),
  });
}

/** The status with which a server ends a call that was refused. */
export function toStatus(error: DomainError): { code: status; details: string; metadata: Metadata } {
  const metadata = new Metadata();
  metadata.set(ERROR_TRAILER, Buffer.from(ErrorDetail.encode(toErrorDetail(error)).finish()));
  return { code: status[errorTable[error.code].grpc], details: error.message, metadata };
}

/**
 * The caller's error for a failed call: the server's refusal, or the transport's outcome for that
 * path.
 */
export function fromServiceError(error: ServiceError, path: string): DomainError {
  const detail = detailOf(error);
  if (detail) return fromErrorDetail(detail);
  const cause = { cause: new Error(path, { cause: error }) };
  switch (error.code) {
    case status.UNAVAILABLE:
      return new DomainError(neverLeft(error) ? "SYS_002" : "SYS_003", null, cause);
    case status.DEADLINE_EXCEEDED:
    case status.CANCELLED:
      return new DomainError("SYS_003", null, cause);
    case status.UNIMPLEMENTED:
      return new DomainError("SYS_004", null, cause);
    default:
      return new DomainError(wasCutOff(error) ? "SYS_003" : "SYS_001", null, cause);
  }
}

/** True when the status is the transport's and not a server's answer. */
export function isFromTransport(error: ServiceError, code: status): boolean {
  return error.code === code && !hasDetail(error);
}

export function isServiceError(error: unknown): error is ServiceError {
  return error instanceof Error && "code" in error && "details" in error && typeof error.code === "number";
}

/**
 * UNAVAILABLE alone does not tell whether the server saw the request, which matters for money.
 * grpc-js distinguishes the cases by text only: these prove that the request was not sent. A
 * connection lost during the call is unknown.
 */
function neverLeft(error: ServiceError): boolean {
  return /^(?:\w+: )?(?:No connection established|Name resolution failed|Stream refused|Channel closed)/.test(
    error.details,
  );
}

/**
 * The other side ended the stream during the call, as INTERNAL or other codes; the call may have
 * been executed.
 */
function wasCutOff(error: ServiceError): boolean {
  return error.details.startsWith("Received RST_STREAM");
}

function hasDetail(error: ServiceError): boolean {
  return (error.metadata?.get(ERROR_TRAILER).length ?? 0) > 0;
}

function detailOf(error: ServiceError): ErrorDetail | undefined {
  const [bytes] = error.metadata?.get(ERROR_TRAILER) ?? [];
  if (!Buffer.isBuffer(bytes)) return undefined;
  try {
    return ErrorDetail.decode(bytes);
  } catch {
    return { code: "unreadable", detailsJson: undefined };
  }
}

function parseDetails(text: string | undefined): JsonObject | null {
  if (text === undefined) return null;
  try {
    const value = JSON.parse(text) as Json;
    return value !== null && typeof value === "object" && !Array.isArray(value) ? value : null;
  } catch {
    return null;
  }
}

function fits(text: string | undefined): boolean {
  return text === undefined || Buffer.byteLength(text) <= MAX_DETAILS_BYTES;
}
