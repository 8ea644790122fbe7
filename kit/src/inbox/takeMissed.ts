import { type EventEnvelope } from "@wonrail/proto/common/v1/common";
import { pause } from "../pause";
import { consumerMetrics } from "./consumerMetrics";
import { decodeEvent } from "./events";
import { toMessage } from "./envelopes";
import { handleBatch } from "./handleBatch";
import { ALONE_MS, type StartConsumerOptions } from "./startConsumer";
import { findTaken } from "./store";

/**
 * Of a topic's events, which have come from their service itself, takes in those that the group has not had, as if the bus had brought them. Gives how
 * many. One that the bus brings after all is then a duplicate.
 */
export async function takeMissed(
  { db, spec, log, registry }: Pick<StartConsumerOptions, "db" | "spec" | "log" | "registry">,
  topic: string,
  envelopes: EventEnvelope[],
): Promise<number> {
  const messages = envelopes
    .filter(({ eventType }) => Object.hasOwn(spec.handlers, eventType))
    .map((envelope) => toMessage(topic, envelope));
  if (messages.length === 0) return 0;
  const events = messages.map((message) => decodeEvent(message));
  const taken = await findTaken(
    db,
    spec.group,
    events.map(({ id }) => id),
  );
  const missed = messages.filter((_, index) => !taken.has(events[index]!.id));
  if (missed.length === 0) return 0;
  const metrics = consumerMetrics(registry, spec.group);
  await handleBatch({ db, spec, log, metrics, rest: pause(), aloneMs: ALONE_MS }, missed);
  return missed.length;
}
