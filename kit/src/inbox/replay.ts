import { isTransient, tx } from "../db";
import { lockNextReplay, markReplayFailed, markReplayed, type DeadLetter } from "./deadLetters";
import { MalformedEventError, decodeEvent } from "./events";
import type { Consumer } from "./applyBatch";
import { runHandlers } from "./runHandlers";
import { describeError, takeEvents } from "./store";

/** Retries requested dead letters, one transaction each. Returns the number of successes. */
export async function replayRequested(consumer: Consumer): Promise<number> {
  let replayed = 0;
  while (!consumer.rest.closed) {
    const outcome = await replayNext(consumer);
    if (outcome === "none") break;
    if (outcome === "replayed") replayed += 1;
  }
  return replayed;
}

async function replayNext({ db, spec, log }: Consumer): Promise<"replayed" | "failed" | "none"> {
  let letter: DeadLetter | undefined;
  try {
    await tx(db, async (tx) => {
      letter = await lockNextReplay(tx, spec.group);
      if (!letter) return;
      const event = decodeEvent({ topic: letter.topic, headers: letter.headers, value: letter.payload });
      const handler = Object.hasOwn(spec.handlers, event.type) ? spec.handlers[event.type] : undefined;
      if (!handler) throw new MalformedEventError(`this consumer has no handler for ${event.type}`);
      await takeEvents(tx, spec.group, [event.id]);
      await runHandlers(tx, [{ event, handler }], log);
      await markReplayed(tx, letter.id);
    });
  } catch (error) {
    if (!letter || isTransient(error)) throw error;
    log.warn(
      { err: error, group: spec.group, deadLetter: letter.id.toString() },
      "a dead letter failed again",
    );
    await markReplayFailed(db, letter.id, describeError(error));
    return "failed";
  }
  if (!letter) return "none";
  log.info({ group: spec.group, deadLetter: letter.id.toString() }, "a dead letter was replayed");
  return "replayed";
}
