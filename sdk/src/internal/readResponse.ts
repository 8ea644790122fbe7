import { serviceError, type ErrorDetails, type ServiceError } from "../core/errors.ts";
import { isOutcomeOpen } from "./outcome.ts";
import { parseRetryAfterMs } from "./retry.ts";

export interface ResponseData {
  data: unknown;
  requestId: string;
  replayed: boolean;
}

/** The request that the response belongs to. */
export interface RequestContext {
  requestId: string;
  idempotencyKey: string | undefined;
  /** False for reads, which never leave an open outcome. */
  isChange: boolean;
}

/** Returns the data of a success, or the error of any other response. Rejects when the body breaks off. */
export async function readResponse(
  response: Response,
  { requestId: sent, idempotencyKey, isChange }: RequestContext,
): Promise<ResponseData | ServiceError> {
  const text = await response.text();
  const envelope = parseEnvelope(text);
  const replayed = response.headers.get("idempotent-replayed") === "true";
  if (envelope?.success === true && response.ok)
    return { data: envelope.data, requestId: envelope.requestId, replayed };

  const retryAfterMs = parseRetryAfterMs(response.headers, Date.now());
  const { status } = response;
  const common = { status, idempotencyKey, retryAfterMs };
  if (envelope?.success === false) {
    const { code, message, details } = envelope.error;
    const outcomeUnknown = isChange && isOutcomeOpen({ code, status });
    const { requestId } = envelope;
    return serviceError({ ...common, code, message, details, requestId, outcomeUnknown, replayed });
  }
  // A proxy answered with a page of its own. Only its status is meaningful.
  return serviceError({
    ...common,
    code: "SDK_004",
    requestId: response.headers.get("x-request-id") ?? sent,
    retryable: [408, 429, 502, 503, 504].includes(status),
    outcomeUnknown: isChange && isOutcomeOpen({ code: "SDK_004", status }),
    details: { status, contentType: response.headers.get("content-type") },
  });
}

type ParsedEnvelope =
  | { success: true; data: unknown; requestId: string }
  | {
      success: false;
      error: { code: string; message: string; details: ErrorDetails | null };
      requestId: string;
    };

function parseEnvelope(text: string): ParsedEnvelope | undefined {
  const parsed = parseJson(text);
  if (!isObject(parsed) || typeof parsed["requestId"] !== "string") return undefined;
  const { success, data, error, requestId } = parsed as { [name: string]: unknown; requestId: string };
  if (success === true && isObject(data)) return { success, data, requestId };
  if (success !== false || !isObject(error)) return undefined;
  const { code, message, details } = error;
  if (typeof code !== "string" || typeof message !== "string") return undefined;
  return { success, error: { code, message, details: isObject(details) ? details : null }, requestId };
}

function parseJson(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return undefined;
  }
}

function isObject(value: unknown): value is Record<string, unknown> {
  return typeof value === "object" && value !== null && !Array.isArray(value);
}
