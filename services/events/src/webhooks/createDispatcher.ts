import { type Database, tx } from "@wonrail/kit/db";
import { failpoint } from "@wonrail/kit/failpoint";
import { createBatchQueue } from "@wonrail/kit/batchQueue";
import { type Log } from "@wonrail/kit/log";
import { Counter, Histogram, type Registry } from "@wonrail/kit/metrics";
import { createPause } from "@wonrail/kit/pause";
import { createEndpoints } from "./domain/endpoints";
import { messageOf } from "./domain/message";
import { pauseAfterMs } from "./domain/retries";
import { signedHeaders } from "./domain/signature";
import { type Secrets } from "./secrets";
import { type AttemptOutcome, type Sender } from "./sender/postDelivery";
import { type FinishedAttempt, saveAttempts } from "./store/attempts";
import { claimDeliveries, type ClaimedDelivery, endWaits, fanOut } from "./store/deliveries";
import { findSecrets } from "./store/webhooks";

export interface DispatcherParts {
  db: Database;
  log: Log;
  registry: Registry;
  sender: Sender;
  secrets: Secrets;
}

export interface Dispatcher {
  /** There may be work now. */
  wake(): void;
  /** Waits for the attempts under way. */
  close(): Promise<void>;
}

type Target = Awaited<ReturnType<typeof findSecrets>>[number];

/** How long an idle dispatcher sleeps when no replica tells it of an event. Every pause of a delivery is longer. */
const IDLE_MS = 250;
/** Attempts that end within this time are one round, because a round costs several requests to the database. */
const GATHER_MS = 10;
const AFTER_FAILURE_MS = 1_000;
const FAN_OUT_WEBHOOKS = 500;
const FAN_OUT_EVENTS = 200;
const MAX_IN_FLIGHT = 2_000;
const CLAIM_SIZE = 500;
const WAITS_AT_ONCE = 500;
/** The largest part of the free room that one claim takes. The next claim follows the endpoints' new limits. */
const CLAIM_SHARE = 1 / 4;
/** Longer than an attempt and the saving of its outcome. */
const LEASE_MS = 60_000;
const DELAY_BUCKETS_SECONDS = [0.05, 0.1, 0.25, 0.5, 1, 2, 5, 10, 60, 3_600, 86_400];

/** Delivers events to endpoints: makes deliveries of new events, leases those that are due, and attempts them. */
export function startDispatcher(parts: DispatcherParts): Dispatcher {
  const { db, log, sender, secrets, registry } = parts;
  const rest = createPause();
  const endpoints = createEndpoints();
  const running = new Set<Promise<void>>();
  let hasNews = true;
  let fannedOutMs = 0;
  let endedWaitsMs = 0;
  const observed = observe(registry);
  const saves = createBatchQueue<FinishedAttempt, undefined>({
    name: "save_attempts",
    work: async (attempts) => {
      await tx(db, async (tx) => saveAttempts(tx, attempts));
      return attempts.map(() => ({ ok: true, value: undefined }));
    },
    maxBatch: 500,
    maxQueue: 2 * MAX_IN_FLIGHT,
    registry,
  });

  async function round(): Promise<boolean> {
    const ended = await endPauses();
    const moved = await makeDeliveries();
    const claimed = await claim(MAX_IN_FLIGHT - running.size);
    if (claimed.length > 0) await start(claimed);
    return ended > 0 || moved > 0 || claimed.length > 0;
  }

  async function endPauses(): Promise<number> {
    const nowMs = performance.now();
    if (nowMs - endedWaitsMs < IDLE_MS) return 0;
    const ended = await endWaits(db, WAITS_AT_ONCE);
    // The next round ends the others.
    if (ended < WAITS_AT_ONCE) endedWaitsMs = nowMs;
    return ended;
  }

  /** Rounds after the end of an attempt leave this out, until there may be new events. */
  async function makeDeliveries(): Promise<number> {
    const nowMs = performance.now();
    if (!hasNews && nowMs - fannedOutMs < IDLE_MS) return 0;
    [hasNews, fannedOutMs] = [false, nowMs];
    const moved = await fanOut(db, FAN_OUT_WEBHOOKS, FAN_OUT_EVENTS);
    // The next look finds the rest of a long backlog.
    hasNews ||= moved > 0;
    if (moved > 0) await failpoint("events.fanned_out");
    return moved;
  }

  function claim(room: number): Promise<ClaimedDelivery[]> | [] {
    if (room === 0) return [];
    const inAll = Math.min(CLAIM_SIZE, Math.ceil(room * CLAIM_SHARE));
    return claimDeliveries(db, { ...endpoints.limits(room), inAll, leaseMs: LEASE_MS });
  }

  async function start(claimed: ClaimedDelivery[]): Promise<void> {
    const targets = new Map(
      (await findSecrets(db, distinct(claimed))).map((target) => [target.webhookId, target]),
    );
    await failpoint("events.dispatching");
    for (const delivery of claimed) {
      const target = targets.get(delivery.webhookId);
      // Without one the webhook was deleted meanwhile, and the delivery with it.
      if (!target) continue;
      const attempt = attemptOnce(delivery, target).finally(() => {
        running.delete(attempt);
        rest.wake();
      });
      running.add(attempt);
    }
  }

  async function attemptOnce(delivery: ClaimedDelivery, target: Target): Promise<void> {
    endpoints.began(delivery.webhookId);
    const startedAt = new Date();
    try {
      const outcome = await postOnce(delivery, target, startedAt);
      endpoints.ended(delivery.webhookId, outcome.isDelivered);
      await failpoint("events.delivered");
      observed(delivery, outcome, startedAt);
      await saves.submit(finished(delivery, outcome, startedAt));
      await failpoint("events.saved");
    } catch (error) {
      // The lease ends, and the delivery is attempted again.
      endpoints.ended(delivery.webhookId, false);
      log.warn({ err: error, webhookId: delivery.webhookId }, "an attempt could not be saved");
    }
  }

  async function postOnce(delivery: ClaimedDelivery, target: Target, at: Date): Promise<AttemptOutcome> {
    const body = messageOf(delivery);
    if (body === null) return GONE_EVENT;
    const message = { id: delivery.eventId, atSeconds: Math.floor(at.getTime() / 1000), body };
    const headers = signedHeaders(message, await secrets.open(target, target.secrets));
    return sender.post({ url: target.url, headers, body });
  }

  async function loop(): Promise<void> {
    while (!rest.closed) {
      try {
        if (await round()) await rest.sleepUnwoken(GATHER_MS);
        else await rest.sleep(IDLE_MS);
      } catch (error) {
        log.warn({ err: error }, "a round of deliveries failed");
        await rest.sleepUnwoken(AFTER_FAILURE_MS);
      }
    }
  }
  const looping = loop();

  return {
    wake() {
      hasNews = true;
      rest.wake();
    },
    async close() {
      rest.close();
      await looping;
      await Promise.all(running);
      await saves.close();
    },
  };
}

/** The delivery waited for longer than its event is kept. */
const GONE_EVENT: AttemptOutcome = {
  ...{ isDelivered: false, isGone: false, statusCode: null, durationMs: 0 },
  ...{ requestHead: null, responseHead: null },
  error: "the event has been deleted",
};

function finished(delivery: ClaimedDelivery, outcome: AttemptOutcome, startedAt: Date): FinishedAttempt {
  const number = delivery.attempts + 1;
  // An event waits with its DISABLED webhook; a test has no use later.
  const isOver = outcome === GONE_EVENT || (outcome.isGone && delivery.sequence === null);
  const pauseMs = isOver ? null : pauseAfterMs(number, Math.random());
  const { orgId, webhookId, deliveryId } = delivery;
  return {
    orgId,
    webhookId,
    deliveryId,
    number,
    startedAt,
    ...outcome,
    pauseMs: outcome.isDelivered ? null : pauseMs,
  };
}

function distinct(claimed: ClaimedDelivery[]): ClaimedDelivery[] {
  return [...new Map(claimed.map((delivery) => [delivery.webhookId, delivery])).values()];
}

function observe(registry: Registry): (delivery: ClaimedDelivery, outcome: AttemptOutcome, at: Date) => void {
  const attempts = new Counter({
    name: "webhook_attempts_total",
    help: "Attempts to deliver an event to an endpoint, by outcome",
    labelNames: ["outcome"],
    registers: [registry],
  });
  const delay = new Histogram({
    name: "webhook_delivery_delay_seconds",
    help: "Time from the event to the first attempt to deliver it",
    buckets: DELAY_BUCKETS_SECONDS,
    registers: [registry],
  });
  for (const outcome of ["delivered", "refused", "no_answer"]) attempts.inc({ outcome }, 0);
  return ({ attempts: earlier, event }, { isDelivered, statusCode }, at) => {
    attempts.inc({ outcome: isDelivered ? "delivered" : statusCode === null ? "no_answer" : "refused" });
    if (earlier === 0 && event) delay.observe(Math.max(0, at.getTime() - event.createdAt.getTime()) / 1000);
  };
}
