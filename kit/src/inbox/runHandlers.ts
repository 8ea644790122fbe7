import { childTraceparent, runInContext, type RequestContext } from "../context";
import type { Tx } from "../db";
import { newId } from "../ids";
import type { Log } from "../log";
import { beginSpan } from "../tracing";
import type { BulkHandler, EventHandler, ReceivedEvent } from "./events";

/** An event that has not had its effect yet. */
export interface Due {
  event: ReceivedEvent;
  handler: EventHandler | BulkHandler;
}

/** In the order of the events. What follows each other and has one bulk handler goes to it at once. */
export async function runHandlers(tx: Tx, due: Due[], log: Log): Promise<void> {
  for (let start = 0; start < due.length;) {
    const { handler, event } = due[start]!;
    if (typeof handler === "function") {
      await inContextsOf([event], log, (contexts) => runInContext(contexts[0]!, () => handler(tx, event)));
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

/** Each event is logged and traced as part of the request that caused it; a single handler's calls and log lines are too. */
async function inContextsOf(
  events: ReceivedEvent[],
  log: Log,
  work: (contexts: RequestContext[]) => Promise<void>,
): Promise<void> {
  const contexts = events.map(contextOf);
  const spans = events.map((event, index) => {
    runInContext(contexts[index]!, () =>
      log.debug({ event: event.type, aggregateId: event.aggregateId }, "event"),
    );
    return beginSpan("consumer");
  });
  const end = (failure?: "failed"): void =>
    spans.forEach((span, index) => {
      const { type: name, traceparent: parent } = events[index]!;
      span?.end({ name, context: contexts[index]!, parent, ...(failure && { failure }) });
    });
  try {
    await work(contexts);
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
