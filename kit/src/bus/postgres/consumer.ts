import { randomBytes } from "node:crypto";
import type { Database } from "../../db";
import type { Log } from "../../log";
import { leaveInTime } from "../farewell";
import { watchMovement } from "../liveness";
import type { BusMetrics } from "../metrics";
import type { SubscribeOptions, Subscription } from "../port";
import { createMembership } from "./membership";
import { createPump } from "./pump";
import { repeat } from "./repeat";
import { announceGroup } from "./store";

export interface ConsumerParts {
  db: Database;
  clientId: string;
  log: Log;
  metrics: BusMetrics;
  leaseMs: number;
  onClosed: () => void;
}

export interface PostgresConsumer extends Subscription {
  readonly group: string;
  /** Messages arrived in these partitions. */
  wake(partitionIds: number[]): void;
  /** Something may have changed that nobody said. */
  look(): void;
}

export async function startConsumer(
  { db, clientId, log, metrics, leaseMs, onClosed }: ConsumerParts,
  request: SubscribeOptions,
): Promise<PostgresConsumer> {
  const { group, topics } = request;
  const member = `${clientId}-${randomBytes(8).toString("hex")}`;
  const movement = watchMovement(2 * leaseMs);
  const pump = createPump({ db, request, movement, metrics, log, onLost: () => looks.soon() });
  const membership = createMembership({ db, group, topics, member, leaseMs, pump, metrics, log });
  for (const topic of topics) metrics.droppedUnread.inc({ group, topic }, 0);
  const looks = repeat(
    leaseMs / 3,
    () => {
      movement.moved();
      return membership.look();
    },
    (error) => log.warn({ err: error, group }, "the consumer does not reach its group, it goes on trying"),
  );
  await looks.now();
  await announceGroup(db, group).catch(() => undefined);

  const leave = async (): Promise<void> => {
    await looks.stop();
    await membership.leave();
  };
  const close = async (): Promise<void> => {
    await leaveInTime(movement, leave).catch((error: unknown) =>
      log.warn({ err: error, group }, "the consumer left without a word, its lease has to end"),
    );
    movement.stop();
    onClosed();
  };
  let closed: Promise<void> | undefined;
  return {
    group,
    wake: pump.wake,
    look: looks.soon,
    live: movement.live,
    close: () => (closed ??= close()),
  };
}
