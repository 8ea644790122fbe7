import type { Log } from "../../log";
import type { Liveness } from "../liveness";
import { DEFAULT_MAX_BATCH, type SubscribeOptions } from "../port";
import { createRedelivery } from "../redelivery";
import { startHeartbeats } from "./startHeartbeats";
import { type RawMessage, toReceivedMessage } from "./toReceivedMessage";

/** The used part of kafkajs' batch. */
interface Batch {
  batch: { topic: string; partition: number; messages: RawMessage[] };
  pause(): () => void;
  isRunning(): boolean;
  heartbeat(): Promise<void>;
  resolveOffset(offset: string): void;
  uncommittedOffsets(): unknown;
  commitOffsetsIfNecessary(offsets: unknown): Promise<void>;
}

export interface BatchHandlerParts {
  request: SubscribeOptions;
  liveness: Liveness;
  sessionTimeoutMs: number;
  log: Log;
}

export function createBatchHandler({ request, liveness, sessionTimeoutMs, log }: BatchHandlerParts) {
  const { group, handleBatch, maxBatch = DEFAULT_MAX_BATCH } = request;
  const redelivery = createRedelivery();
  const resting = new Set<NodeJS.Timeout>();

  /**
   * Throwing would stop the whole consumer, and for a TypeError for good. So the partition rests,
   * and the others continue.
   */
  const rest = (payload: Batch, error: unknown): void => {
    const { topic, partition } = payload.batch;
    const pauseMs = redelivery.failed(`${topic}/${partition}`);
    log.warn(
      { err: error, group, topic, partition, pauseMs },
      "the handler failed; its messages are retried",
    );
    const resume = payload.pause();
    const timer = setTimeout(() => {
      resting.delete(timer);
      resume();
    }, pauseMs);
    resting.add(timer);
  };

  return {
    async handle(payload: Batch): Promise<void> {
      const { topic, partition, messages } = payload.batch;
      for (let start = 0; start < messages.length && payload.isRunning(); start += maxBatch) {
        const slice = messages.slice(start, start + maxBatch);
        const heartbeats = startHeartbeats(payload, sessionTimeoutMs / 8);
        try {
          await liveness.during(() =>
            handleBatch(slice.map((message) => toReceivedMessage(topic, partition, message))),
          );
        } catch (error) {
          return rest(payload, error);
        } finally {
          heartbeats.stop();
        }
        redelivery.done(`${topic}/${partition}`);
        payload.resolveOffset(slice.at(-1)!.offset);
        await payload.commitOffsetsIfNecessary(payload.uncommittedOffsets());
        await payload.heartbeat();
      }
    },
    close: () => resting.forEach((timer) => clearTimeout(timer)),
  };
}
