import type { Queryable } from "../../db";
import type { Log } from "../../log";
import type { Movement } from "../liveness";
import type { BusMetrics } from "../metrics";
import { DEFAULT_MAX_BATCH, type ReceivedMessage, type SubscribeOptions } from "../port";
import { createRedelivery } from "../redelivery";
import { type StoredMessage } from "./packing";
import { moveCursors, type Ownership, type ReadMessages, readMessages } from "./store";

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
  metrics: BusMetrics;
  log: Log;
  /** Somebody else owns it by now. */
  onLost: (partitionId: number) => void;
}

interface Slot {
  partition: OwnedPartition;
  waiting: boolean;
  resting?: NodeJS.Timeout | undefined;
}

interface Delivery extends ReadMessages {
  slot: Slot;
}

/**
 * Reads, hands over and commits the owned partitions. What has arrived in any of them goes in one batch, each partition's in its order: a handler's transaction
 * costs about the same for one message as for ten.
 */
export function createPump({ db, request, movement, metrics, log, onLost }: PumpParts): Pump {
  const { group, handleBatch, maxBatch = DEFAULT_MAX_BATCH } = request;
  const slots = new Map<number, Slot>();
  const redelivery = createRedelivery();
  let round: { slots: Slot[]; done: Promise<void> } | undefined;

  const run = (): void => {
    if (round) return;
    const due = [...slots.values()].filter(({ waiting, resting }) => waiting && !resting).slice(0, maxBatch);
    if (due.length === 0) return;
    const done = step(due).finally(() => {
      round = undefined;
      run();
    });
    round = { slots: due, done };
  };

  const step = async (due: Slot[]): Promise<void> => {
    for (const slot of due) {
      slot.waiting = false;
      // To the end of the line, should there be more than fit into a batch.
      slots.delete(slot.partition.partitionId);
      slots.set(slot.partition.partitionId, slot);
    }
    try {
      const read = await readMessages(
        db,
        due.map(({ partition }) => partition),
        maxBatch,
      );
      const full: Delivery[] = [];
      for (const slot of due) {
        const found = read.get(slot.partition.partitionId);
        if (found === undefined) lose(slot);
        else if (found.messages.length > 0) full.push({ slot, ...found });
      }
      if (full.length > 0) await deliver(full);
    } catch (error) {
      for (const slot of due) rest(slot, error);
    }
  };

  /** When it fails, each partition is tried alone, so that only the one to blame waits. */
  const deliver = async (full: Delivery[]): Promise<void> => {
    try {
      const messages = full.flatMap(({ slot: { partition }, messages }) =>
        messages.map((stored) => received(partition, stored)),
      );
      await movement.during(() => handleBatch(messages));
      await commit(full);
    } catch (error) {
      if (full.length === 1) return rest(full[0]!.slot, error);
      for (const each of full) await deliver([each]);
    }
  };

  const commit = async (full: Delivery[]): Promise<void> => {
    const done = full.map(({ slot, messages }) => ({
      ...slot.partition,
      position: messages.at(-1)!.position + 1n,
    }));
    const moved = await moveCursors(db, done);
    for (const [index, { slot, messages, mayHaveMore }] of full.entries()) {
      const { partitionId, position } = done[index]!;
      if (!moved.has(partitionId)) {
        lose(slot);
        continue;
      }
      tellDropped(slot.partition, Number(position - slot.partition.position) - messages.length);
      slot.partition.position = position;
      // Of what has come meanwhile we are told.
      if (mayHaveMore) slot.waiting = true;
      redelivery.done(String(partitionId));
    }
  };

  /** Positions have no gaps: where there is one, the messages were past their time before the group came to them. */
  const tellDropped = ({ topic, number }: OwnedPartition, messages: number): void => {
    if (messages === 0) return;
    metrics.droppedUnread.inc({ group, topic }, messages);
    log.warn(
      { group, topic, partition: number, messages },
      "messages were dropped before the group had read them",
    );
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
    if (slot && round?.slots.includes(slot)) await round.done;
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
