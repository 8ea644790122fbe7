export { appendEvents } from "./appendEvents";
export type { NewEvent } from "./events";
export { startOutboxRelay, type OutboxRelay, type OutboxRelayOptions } from "./relay";
export { republishSince } from "./store";
