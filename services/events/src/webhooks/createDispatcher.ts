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
import { claimDeliveries, type ClaimedDelivery, fanOut } from "./store/deliveries";
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

/** How long an idle dispatcher sleeps when no replica tells it of an event. */
const IDLE_MS = 250;
const AFTER_FAILURE_MS = 1_000;
const FAN_OUT_WEBHOOKS = 500;
const FAN_OUT_EVENTS = 200;
const MAX_IN_FLIGHT = 2_000;
const CLAIM_SIZE = 500;
/** Longer than an attempt and the saving of its outcome. */
const LEASE_MS = 60_000;
const DELAY_BUCKETS_SECONDS = [0.05, 0.1, 0.25, 0.5, 1, 2, 5, 10, 60, 3_600, 86_400];

/** Delivers events to endpoints: makes deliveries of new events, leases those that are due, and attempts them. */
export function startDispatcher(parts: DispatcherParts): Dispatcher {
  const { db, log, sender, secrets, registry } = parts;
  const rest = createPause();
  const endpoints = createEndpoints();
  const running = new Set<Promise<void>>();
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
    const moved = await fanOut(db, FAN_OUT_WEBHOOKS, FAN_OUT_EVENTS);
    const room = Math.min(CLAIM_SIZE, MAX_IN_FLIGHT - running.size);
    const claimed =
      room > 0 ? await claimDeliveries(db, { ...endpoints.limits(), inAll: room, leaseMs: LEASE_MS }) : [];
    if (claimed.length > 0) await start(claimed);
    return moved > 0 || claimed.length > 0;
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
        if (!(await round())) await rest.sleep(IDLE_MS);
      } catch (error) {
        log.warn({ err: error }, "a round of deliveries failed");
        await rest.sleepUnwoken(AFTER_FAILURE_MS);
      }
    }
  }
  const looping = loop();

  return {
    wake: () => rest.wake(),
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
  ...{ isDelivered: false, isGone: false, statusCode: null, responseHead: null, durationMs: 0 },
  error: "the event has been deleted",
};

function finished(delivery: ClaimedDelivery, outcome: AttemptOutcome, startedAt: Date): FinishedAttempt {
  const number = delivery.attempts + 1;
  const pauseMs = outcome === GONE_EVENT || outcome.isGone ? null : pauseAfterMs(number, Math.random());
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
