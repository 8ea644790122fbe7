import type { Queryable } from "../../db";
import type { Log } from "../../log";
import type { Movement } from "../liveness";
import { DEFAULT_MAX_BATCH, type ReceivedMessage, type SubscribeOptions } from "../port";
import { createRedelivery } from "../redelivery";
import { moveCursor, type Ownership, readMessages, type StoredMessage } from "./store";

const PARTITIONS_AT_ONCE = 4;

export interface OwnedPartition extends Ownership {
  topic: string;
  number: number;
  /** The first message that is not done. */
  position: bigint;
}

export interface Pump {
  /** The position of each partition that is worked on. */
  positions(): Map<number, bigint>;
  own(partition: OwnedPartition): void;
  /** There may be messages. */
  wake: (partitionIds: Iterable<number>) => void;
  /** Takes no more of the partition, and resolves when the batch in hand is done. */
  disown(partitionId: number): Promise<void>;
  close(): Promise<void>;
}

export interface PumpParts {
  db: Queryable;
  request: SubscribeOptions;
  movement: Movement;
  log: Log;
  /** Somebody else owns it by now. */
  onLost: (partitionId: number) => void;
}

interface Slot {
  partition: OwnedPartition;
  waiting: boolean;
  busy?: Promise<void> | undefined;
  resting?: NodeJS.Timeout | undefined;
}

/** Reads, hands over and commits the owned partitions: each in order, a few of them at a time, one batch in turn. */
export function createPump({ db, request, movement, log, onLost }: PumpParts): Pump {
  const { group, handleBatch, maxBatch = DEFAULT_MAX_BATCH } = request;
  const slots = new Map<number, Slot>();
  const redelivery = createRedelivery();
  let busy = 0;

  const run = (): void => {
    for (const [id, slot] of slots) {
      if (busy >= PARTITIONS_AT_ONCE) return;
      if (!slot.waiting || slot.busy || slot.resting) continue;
      // To the end of the line, so that a few full partitions do not starve the rest.
      slots.delete(id);
      slots.set(id, slot);
      busy += 1;
      slot.busy = step(slot).finally(() => {
        busy -= 1;
        slot.busy = undefined;
        run();
      });
    }
  };

  const step = async (slot: Slot): Promise<void> => {
    const { partition } = slot;
    slot.waiting = false;
    try {
      const messages = await readMessages(db, partition, { from: partition.position, limit: maxBatch });
      if (messages === undefined) return lose(slot);
      if (messages.length === 0) return;
      await movement.during(() => handleBatch(messages.map((message) => received(partition, message))));
      const next = messages.at(-1)!.position + 1n;
      if (!(await moveCursor(db, partition, next))) return lose(slot);
      partition.position = next;
      slot.waiting = true;
      redelivery.done(String(partition.partitionId));
    } catch (error) {
      rest(slot, error);
    }
  };

  const rest = (slot: Slot, error: unknown): void => {
    const { topic, number, partitionId } = slot.partition;
    const pauseMs = redelivery.failed(String(partitionId));
    log.warn(
      { err: error, group, topic, partition: number, pauseMs },
      "the handler failed, its messages come again",
    );
    slot.resting = setTimeout(() => {
      slot.resting = undefined;
      slot.waiting = true;
      run();
    }, pauseMs);
  };

  const lose = (slot: Slot): void => {
    const { partitionId, topic, number } = slot.partition;
    // It may have come back meanwhile, in a slot of its own.
    if (slots.get(partitionId) !== slot) return;
    log.info({ group, topic, partition: number }, "the partition went to another consumer");
    slots.delete(partitionId);
    onLost(partitionId);
  };

  const disown = async (partitionId: number): Promise<void> => {
    const slot = slots.get(partitionId);
    slots.delete(partitionId);
    clearTimeout(slot?.resting);
    await slot?.busy;
    // A batch that failed while it was waited for has set the timer again.
    clearTimeout(slot?.resting);
  };

  return {
    positions: () => new Map([...slots].map(([id, { partition }]) => [id, partition.position])),
    own(partition) {
      slots.set(partition.partitionId, { partition, waiting: true });
      run();
    },
    wake(partitionIds) {
      for (const id of partitionIds) {
        const slot = slots.get(id);
        if (slot) slot.waiting = true;
      }
      run();
    },
    disown,
    close: async () => void (await Promise.all([...slots.keys()].map(disown))),
  };
}

function received({ topic, number }: OwnedPartition, stored: StoredMessage): ReceivedMessage {
  return {
    topic,
    partition: number,
    offset: String(stored.position),
    timestampMs: stored.stored_at.getTime(),
    key: stored.key,
    value: stored.value,
    headers: stored.headers,
  };
}
