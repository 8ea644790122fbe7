/** The way out: every event that this service publishes goes to this topic. */
export const TOPICS = [{ name: "wonrail.relayer.v1", partitions: 6 }];
