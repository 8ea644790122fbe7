import { AsyncLocalStorage } from "node:async_hooks";
import { randomUUID } from "node:crypto";

/** What travels with one request through every process: in gRPC metadata, event headers and each log line. */
export interface RequestContext {
  readonly requestId: string;
  readonly traceparent: string;
  readonly orgId?: string;
  /** Milliseconds since the epoch after which nobody waits for the answer. Only ever shortened. */
  readonly deadlineMs?: number;
}

const storage = new AsyncLocalStorage<RequestContext>();

export function runInContext<T>(context: RequestContext, work: () => T): T {
  return storage.run(context, work);
}

export function currentContext(): RequestContext | undefined {
  return storage.getStore();
}

/**
 * W3C trace context: a new trace, or a new span of the caller's trace when its header is well formed. Built on randomUUID, which draws its
 * randomness in blocks: at a span for every item of every bulk call, randomBytes is several times as slow.
 */
export function childTraceparent(parent?: string): string {
  const traceId = TRACEPARENT.exec(parent ?? "")?.[1];
  const random = randomUUID();
  return `00-${traceId ?? randomUUID().replaceAll("-", "")}-${random.slice(0, 8)}${random.slice(28)}-01`;
}

const TRACEPARENT = /^00-([0-9a-f]{32})-[0-9a-f]{16}-[0-9a-f]{2}$/;

export function isTraceparent(text: string): boolean {
  return TRACEPARENT.test(text);
}

export function traceIdOf(traceparent: string): string {
  return traceparent.slice(3, 35);
}
