import { isUtf8 } from "node:buffer";
import { type IncomingMessage } from "node:http";
import { DomainError, type FieldProblem, invalidRequest } from "@wonrail/kit/contract/errors";
import { type Json } from "@wonrail/kit/json";
import { JsonRefusedError, MAX_ITEMS_PER_ARRAY, parseStrictJson } from "./strictJson";

export const MAX_BODY_BYTES = 64 * 1024;

/**
 * An oversized body is read and discarded up to this size, because a sending client would otherwise
 * see a reset instead of the answer. Beyond it the answer is sent at once and the connection is cut
 * soon after.
 */
const MAX_DISCARDED_BYTES = 16 * 1024 * 1024;

/** Time for a client with an even larger body to read the answer. */
const CUT_OFF_MS = 1_000;

const CONTENT_TYPE = /^application\/json(?:\s*;\s*charset\s*=\s*"?utf-8"?)?\s*$/i;

export interface ReceivedBody {
  /** undefined: there was none. */
  value: Json | undefined;
  problems: FieldProblem[];
}

const NO_BODY: ReceivedBody = { value: undefined, problems: [] };

/** Limits of a body. An operation with long lists has its own. */
export interface BodyLimits {
  maxBytes: number;
  /** Items of an array. */
  maxItems: number;
}

const BODY_LIMITS: BodyLimits = { maxBytes: MAX_BODY_BYTES, maxItems: MAX_ITEMS_PER_ARRAY };

/** Reads, decodes and strictly parses the request's body. */
export async function readBody(
  req: IncomingMessage,
  { maxBytes, maxItems }: BodyLimits = BODY_LIMITS,
): Promise<ReceivedBody> {
  const { headers } = req;
  const declaredBytes = headers["content-length"];
  if (headers["transfer-encoding"] === undefined && (declaredBytes === undefined || declaredBytes === "0")) {
    return NO_BODY;
  }
  if (headers["content-encoding"] !== undefined && headers["content-encoding"] !== "identity") {
    throw new DomainError("REQ_007");
  }
  const type = headers["content-type"];
  const isJson = type !== undefined && CONTENT_TYPE.test(type);
  // A chunked request without a type may turn out to be empty, which needs no type.
  if (!isJson && (type !== undefined || declaredBytes !== undefined)) throw new DomainError("REQ_007");
  const bytes = await collect(req, maxBytes);
  if (bytes.length === 0) return NO_BODY;
  if (!isJson) throw new DomainError("REQ_007");
  if (!isUtf8(bytes)) throw refusedBody("is not valid UTF-8");
  try {
    return parseStrictJson(bytes.toString("utf8"), maxItems);
  } catch (error) {
    if (error instanceof JsonRefusedError) throw refusedBody(error.message);
    throw error;
  }
}

function collect(req: IncomingMessage, maxBytes: number): Promise<Buffer> {
  return new Promise((resolve, reject) => {
    const chunks: Buffer[] = [];
    let size = 0;
    const onData = (chunk: Buffer): void => {
      size += chunk.length;
      if (size <= maxBytes) {
        chunks.push(chunk);
        return;
      }
      chunks.length = 0;
      if (size > MAX_DISCARDED_BYTES) settle(giveUp);
    };
    const onEnd = (): void => {
      if (size > maxBytes) settle(() => reject(tooLarge(maxBytes)));
      else settle(() => resolve(chunks.length === 1 ? chunks[0]! : Buffer.concat(chunks)));
    };
    // The client left or its framing broke. The request only has to end.
    const onClose = (): void => settle(() => reject(refusedBody("ended before it was complete")));
    const settle = (outcome: () => void): void => {
      req.off("data", onData).off("end", onEnd).off("error", onClose).off("close", onClose);
      outcome();
    };
    const giveUp = (): void => {
      setTimeout(() => req.complete || req.destroy(), CUT_OFF_MS).unref();
      reject(tooLarge(maxBytes));
    };
    if (Number(req.headers["content-length"] ?? 0) > MAX_DISCARDED_BYTES) return giveUp();
    req.on("data", onData).on("end", onEnd).on("error", onClose).on("close", onClose);
  });
}

function tooLarge(maxBytes: number): DomainError {
  return new DomainError("REQ_006", { maxBytes });
}

function refusedBody(message: string): DomainError {
  return invalidRequest([{ path: "(body)", message }]);
}
