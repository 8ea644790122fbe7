import { type ErrorDetail, type ItemContext } from "@wonrail/proto/common/v1/common";
import { runInContext } from "../../context";
import { DomainError, isOutage } from "../../contract/errors";
import { type Log } from "../../log";
import { beginSpan } from "../../tracing";
import { contextFromItem } from "../requestContext";
import { toErrorDetail } from "../wireErrors";
import { type ServerCall } from "./implement";
import { logOutage } from "./logOutage";

export interface ItemHandling<Item, Res> {
  contextOf: (item: Item) => ItemContext | undefined;
  /** The unary twin's work for one item, in that item's context. */
  work: (item: Item, call: ServerCall) => Promise<Res>;
  log: Log;
}

export type ItemAnswer<Res> = { value: Res } | { error: ErrorDetail };

/**
 * The server's half of a coalesced call: runs all items concurrently, each like a single call, and
 * answers in order.
 */
export function serveItems<Item, Res>(
  items: readonly Item[],
  call: ServerCall,
  { contextOf, work, log }: ItemHandling<Item, Res>,
): Promise<ItemAnswer<Res>[]> {
  const deadlineOf = deadlines(items.map(contextOf), call.context.deadlineMs);
  return Promise.all(
    items.map((item) => {
      const received = contextOf(item);
      const context = contextFromItem(received, deadlineOf(received));
      const span = beginSpan("server");
      const end = (failure?: string) =>
        span?.end({ name: "item", context, parent: received?.traceparent, failure });
      return runInContext(context, async () => {
        try {
          if (context.deadlineMs !== undefined && context.deadlineMs <= Date.now())
            throw new DomainError("SYS_003");
          const value = await work(item, { ...call, context });
          log.debug("item");
          end();
          return { value };
        } catch (error) {
          if (!(error instanceof DomainError)) log.error({ err: error }, "item failed");
          else logOutage(error, log, "item");
          const detail = toErrorDetail(error);
          end(error instanceof DomainError && !isOutage(error) ? undefined : detail.code);
          return { error: detail };
        }
      });
    }),
  );
}

/**
 * An item's deadline is by the caller's clock, which may differ from ours. The call's own deadline
 * is by ours and belongs to its latest item, so each item's lies before that by the caller's
 * difference.
 */
function deadlines(
  contexts: (ItemContext | undefined)[],
  callDeadlineMs = Infinity,
): (item: ItemContext | undefined) => number {
  const latestMs = contexts.reduce((latest, item) => Math.max(latest, item?.deadline?.getTime() ?? 0), 0);
  return (item) => (item?.deadline ? callDeadlineMs - (latestMs - item.deadline.getTime()) : callDeadlineMs);
}
