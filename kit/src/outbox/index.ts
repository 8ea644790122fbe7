export { appendEvents } from "./appendEvents";
export type { NewEvent } from "./events";
export { createFeed, type Feed } from "./feed";
export { findLostSince } from "./findLostSince";
export { partitionOf } from "./partitionOf";
export { startOutboxRelay, type OutboxRelay, type OutboxRelayOptions } from "./relay";
