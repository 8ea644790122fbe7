import { childTraceparent, runInContext, type RequestContext } from "../context";
import type { Tx } from "../db";
import { newId } from "../contract/ids";
import type { Log } from "../log";
import { beginSpan } from "../tracing";
import type { BulkHandler, EventHandler, ReceivedEvent } from "./events";

/** An event without its effect yet. */
export interface Due {
  event: ReceivedEvent;
  handler: EventHandler | BulkHandler;
}

/**
 * Runs handlers in the order of the events. Consecutive events with one bulk handler are passed to
 * it together.
 */
export async function runHandlers(tx: Tx, due: Due[], log: Log): Promise<void> {
  for (let start = 0; start < due.length;) {
    const { handler, event } = due[start]!;
    if (typeof handler === "function") {
      await inContextsOf([event], log, (contextAt) => runInContext(contextAt(0), () => handler(tx, event)));
      start += 1;
      continue;
    }
    let end = start;
    while (due[end]?.handler === handler) end += 1;
    const events = due.slice(start, end).map((each) => each.event);
    await inContextsOf(events, log, () => handler.all(tx, events));
    start = end;
  }
}

/**
 * Each event is logged and traced under the request that caused it, as are a single handler's calls
 * and log lines. Contexts are created on demand.
 */
async function inContextsOf(
  events: ReceivedEvent[],
  log: Log,
  work: (contextAt: (index: number) => RequestContext) => Promise<void>,
): Promise<void> {
  const contexts: RequestContext[] = [];
  const contextAt = (index: number) => (contexts[index] ??= contextOf(events[index]!));
  if (log.isLevelEnabled("debug"))
    events.forEach((event, index) =>
      runInContext(contextAt(index), () =>
        log.debug({ event: event.type, aggregateId: event.aggregateId }, "event"),
      ),
    );
  const spans = events.map(() => beginSpan("consumer"));
  const end = (failure?: "failed"): void =>
    spans.forEach((span, index) => {
      const { type: name, traceparent: parent } = events[index]!;
      span?.end({ name, context: contextAt(index), parent, ...(failure && { failure }) });
    });
  try {
    await work(contextAt);
    end();
  } catch (error) {
    end("failed");
    throw error;
  }
}

function contextOf({ requestId, traceparent, orgId }: ReceivedEvent): RequestContext {
  return {
    requestId: requestId === "" ? newId("req") : requestId,
    traceparent: childTraceparent(traceparent),
    ...(orgId === "" ? {} : { orgId }),
  };
}
