export const TOPIC = "wonrail.relayer.v1";

/** The way out: every flow publishes its events to this topic. */
export const TOPICS = [{ name: TOPIC, partitions: 6 }];
