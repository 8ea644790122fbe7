import { type Request, type Response, Router } from "express";
import { DomainError } from "@wonrail/kit/contract/errors";
import { ConsoleError } from "../errors";
import { type Live } from "../live";
import { type Sessions } from "../middleware/sessions";

const HEARTBEAT_MS = 15_000;
const MAX_STREAMS = 200;
/** A page that reads nothing is disconnected when so much waits for it. */
const MAX_WAITING_BYTES = 1_000_000;

export interface LiveRouteParts {
  live: Live;
  sessions: Sessions;
  heartbeatMs?: number | undefined;
}

/** GET /api/live: Server-Sent Events with the state of the system. The stream ends with its session. */
export function liveRoute({ live, sessions, heartbeatMs = HEARTBEAT_MS }: LiveRouteParts): Router {
  const router = Router({ caseSensitive: true });
  let streams = 0;
  router.get("/api/live", async (req, res) => {
    res.locals.route = "/api/live";
    await sessions.read(req, res);
    if (streams >= MAX_STREAMS) throw new DomainError("RATE_001", { retryAfterMs: HEARTBEAT_MS });
    res.set({ "Content-Type": "text/event-stream; charset=utf-8", "X-Accel-Buffering": "no" });
    res.flushHeaders();
    streams += 1;
    const heartbeat = setInterval(() => void beat(req, res), heartbeatMs);
    const stop = live.listen((state) => write(res, `event: state\ndata: ${state}\n\n`));
    res.once("close", () => {
      streams -= 1;
      clearInterval(heartbeat);
      stop();
    });
  });

  async function beat(req: Request, res: Response): Promise<void> {
    try {
      await sessions.read(req, res);
      write(res, ": heartbeat\n\n");
    } catch (error) {
      // An outage of the database ends no session.
      if (error instanceof ConsoleError) res.end("event: signed-out\ndata: {}\n\n");
    }
  }

  return router;
}

function write(res: Response, text: string): void {
  if (res.writableLength > MAX_WAITING_BYTES) res.destroy();
  else if (!res.writableEnded) res.write(text);
}
