import { AsyncLocalStorage } from "node:async_hooks";
import { randomUUID } from "node:crypto";

/**
 * Travels with one request through every process: in gRPC metadata, event headers and each log
 * line.
 */
export interface RequestContext {
  readonly requestId: string;
  readonly traceparent: string;
  readonly orgId?: string;
  /** End of the caller's wait in milliseconds since the epoch. Only ever shortened. */
  readonly deadlineMs?: number;
}

const storage = new AsyncLocalStorage<RequestContext>();

export function runInContext<T>(context: RequestContext, work: () => T): T {
  return storage.run(context, work);
}

export function currentContext(): RequestContext | undefined {
  return storage.getStore();
}

/** W3C trace context: a new trace, or a new span of the caller's trace when its header is well formed. */
export function childTraceparent(parent?: string): string {
  const traceId = TRACEPARENT.exec(parent ?? "")?.[1];
  return `00-${traceId ?? randomHex()}-${randomHex().slice(16)}-01`;
}

/** 32 digits. Node keeps random bytes for many UUIDs; `randomBytes` would draw anew for each call. */
function randomHex(): string {
  return randomUUID().replaceAll("-", "");
}

const TRACEPARENT = /^00-([0-9a-f]{32})-[0-9a-f]{16}-[0-9a-f]{2}$/;

export function isTraceparent(text: string): boolean {
  return TRACEPARENT.test(text);
}

export function traceIdOf(traceparent: string): string {
  return traceparent.slice(3, 35);
}
