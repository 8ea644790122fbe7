import { type Request, Router } from "express";
import { type z } from "zod";
import { invalidRequest } from "@wonrail/kit/contract/errors";
import { type ListEventsResponse, Order } from "@wonrail/proto/events/v1/events";
import { type Clients } from "../clients";
import { eventOf, frameOf, STREAM_ROUTE } from "../routes/events";
import { MethodNotAllowedError } from "./answerErrors";
import { authenticate } from "./authenticate";
import { SECURITY_HEADERS } from "./envelope";
import { type ApiResponse } from "./exchange";
import { parseQuery } from "./parseQuery";
import { createRunningCalls } from "./runningCalls";
import { serveAs, type ServeOptions } from "./serve";
import { writeChunk } from "./sendStream";
import { validate } from "./validate";
import { withTime } from "./withTime";

const { path: STREAM_PATH, scope } = STREAM_ROUTE;
const { access, query: streamQuery } = STREAM_ROUTE.operation;
const KEY_NEEDS = { access, scope };
/** Streams of one organisation in this process. */
const MAX_STREAMS = 10;
const PAGE_SIZE = 100;
/** How long one look waits. A comment follows each, so that the connection is never idle. */
const WAIT_MS = 5_000;
const CALL_TIMEOUT_MS = WAIT_MS + 5_000;

type Events = Clients["events"];
type Wanted = z.output<typeof streamQuery>;

/** GET /api/events/stream: the events of the list, as Server-Sent Events. The id of each is its sequence. */
export function eventStream(events: Events, options: ServeOptions): Router {
  const router = Router({ caseSensitive: true, strict: true });
  const streams = createRunningCalls(MAX_STREAMS);
  router
    .route(STREAM_PATH)
    .get(async (req, plainRes) => {
      const res = plainRes as ApiResponse;
      res.locals.exchange.route = STREAM_PATH;
      await serveAs({ ...KEY_NEEDS, waitMs: 0 }, options, req, res, async ({ orgId }) => {
        const wanted = readWanted(req);
        const end = streams.begin(orgId);
        try {
          await stream(events, { orgId, ...wanted }, options, req, res);
        } finally {
          end();
        }
      });
    })
    .all(() => {
      throw new MethodNotAllowedError("GET, HEAD");
    });
  return router;
}

function readWanted(req: Request): Wanted {
  const wanted = validate(streamQuery, parseQuery(req.url), "query");
  const last = req.headers["last-event-id"];
  if (last === undefined) return wanted;
  // A client that reconnects repeats the query; the header says how far it came.
  if (typeof last !== "string" || !/^(0|[1-9][0-9]{0,15})$/.test(last))
    throw invalidRequest([
      { path: "(header) Last-Event-ID", message: "must be the sequence of an event, or 0" },
    ]);
  return { ...wanted, after: BigInt(last) };
}

/** Refusals before the first byte are answers like all others. Later the stream ends, and the client connects again. */
async function stream(
  events: Events,
  wanted: Wanted & { orgId: string },
  options: ServeOptions,
  req: Request,
  res: ApiResponse,
): Promise<void> {
  let page = await listEvents(events, wanted, 0);
  begin(res);
  if (req.method === "HEAD") return void res.end();
  const { lifecycle } = res.locals.exchange;
  try {
    while (!res.destroyed && !lifecycle.isStopping) {
      await writeChunk(res, framesOf(page));
      page = await listEvents(events, { ...wanted, after: page.nextAfter }, WAIT_MS);
      // A key that was revoked meanwhile gets nothing more.
      await withTime(() => authenticate(options.principals, req, res.locals.exchange, KEY_NEEDS));
    }
  } catch {
    // The client hears of the reason when it connects again.
  }
  res.end();
}

function listEvents(
  events: Events,
  wanted: Wanted & { orgId: string },
  waitMs: number,
): Promise<ListEventsResponse> {
  const { orgId, after, types = [], objectId } = wanted;
  const asked = { orgId, after, types, objectId, order: Order.ASCENDING, limit: PAGE_SIZE, waitMs };
  const timeoutMs = CALL_TIMEOUT_MS;
  return withTime(() => events.listEvents(asked, { retry: true, timeoutMs }), timeoutMs);
}

function begin(res: ApiResponse): void {
  const { exchange } = res.locals;
  const head = SECURITY_HEADERS.concat(exchange.headers);
  head.push("Content-Type", "text/event-stream; charset=utf-8", "X-Accel-Buffering", "no");
  head.push("X-Request-Id", exchange.context.requestId, "Wonrail-Version", exchange.apiVersion);
  res.shouldKeepAlive = false;
  res.writeHead(200, head);
}

function framesOf({ events }: ListEventsResponse): string {
  if (events.length === 0) return ": no event\n\n";
  return events.map((event) => frameOf(eventOf(event))).join("");
}
