import { randomUUID } from "node:crypto";
import { setTimeout as sleep } from "node:timers/promises";
import { checkAnswer } from "./contract";

/** The envelope of every answer. */
export interface Envelope<T> {
  success: boolean;
  data: T;
  error: { code: string; message: string; details: Record<string, unknown> | null } | null;
  requestId: string;
  timestamp: string;
}

export interface Answer<T> {
  status: number;
  headers: Headers;
  body: Envelope<T>;
}

export interface CallOptions {
  key?: string | null;
  idempotencyKey?: string;
  headers?: Record<string, string>;
}

export interface Api {
  call<T = Json>(method: string, path: string, body?: unknown, options?: CallOptions): Promise<Answer<T>>;
  /** Data of a call that must succeed. */
  get<T = Json>(path: string): Promise<T>;
  post<T = Json>(path: string, body: unknown, options?: CallOptions): Promise<T>;
  patch<T = Json>(path: string, body: unknown): Promise<T>;
  withKey(key: string): Api;
}

/** A raw body, for content that no serialiser writes. */
export class RawJson {
  constructor(readonly text: string) {}
}

// oxlint-disable-next-line typescript/no-explicit-any -- a test asserts the fields that it reads
export type Json = any;

const MAX_TRIES = 10;
/** Codes after which the same request may be repeated: not executed, unknown and still running. */
export const ASK_AGAIN = ["SYS_002", "SYS_003", "REQ_002"];

/**
 * The public API as a partner without a library calls it. Every answer is checked against the
 * OpenAPI document.
 */
export function openApi(gatewayUrl: string, apiKey: string): Api {
  async function call<T>(
    method: string,
    path: string,
    body?: unknown,
    options: CallOptions = {},
  ): Promise<Answer<T>> {
    const { key = apiKey, idempotencyKey, headers } = options;
    const response = await fetch(gatewayUrl + path, {
      method,
      headers: {
        ...(key === null ? {} : { "X-API-Key": key }),
        ...(body === undefined ? {} : { "Content-Type": "application/json" }),
        ...(idempotencyKey === undefined ? {} : { "Idempotency-Key": idempotencyKey }),
        ...headers,
      },
      ...(body === undefined ? {} : { body: body instanceof RawJson ? body.text : JSON.stringify(body) }),
    });
    const answer = (await response.json()) as Envelope<T>;
    checkAnswer(method, path, response.status, answer);
    return { status: response.status, headers: response.headers, body: answer };
  }

  /** Repeats a request without outcome under its key, like a good client. */
  async function must<T>(method: string, path: string, body?: unknown, options?: CallOptions): Promise<T> {
    for (let tries = 1; ; tries += 1) {
      const { status, headers, body: envelope } = await call<T>(method, path, body, options);
      if (envelope.success) return envelope.data;
      if (!ASK_AGAIN.includes(envelope.error!.code) || tries >= MAX_TRIES) {
        throw new Error(`${method} ${path} answered ${status} ${JSON.stringify(envelope.error)}`);
      }
      await sleep(Number(headers.get("retry-after") ?? 1) * 1_000);
    }
  }

  return {
    call,
    get: (path) => must("GET", path),
    post: (path, body, options = {}) =>
      must("POST", path, body, { idempotencyKey: randomUUID(), ...options }),
    patch: (path, body) => must("PATCH", path, body),
    withKey: (key) => openApi(gatewayUrl, key),
  };
}
