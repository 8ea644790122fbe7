import { AsyncLocalStorage } from "node:async_hooks";
import { randomBytes } from "node:crypto";

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

/** W3C trace context: a new trace, or a new span of the caller's trace when its header is well formed. */
export function childTraceparent(parent?: string): string {
  const traceId = /^00-([0-9a-f]{32})-[0-9a-f]{16}-[0-9a-f]{2}$/.exec(parent ?? "")?.[1];
  return `00-${traceId ?? randomBytes(16).toString("hex")}-${randomBytes(8).toString("hex")}-01`;
}

export function traceIdOf(traceparent: string): string {
  return traceparent.slice(3, 35);
}
