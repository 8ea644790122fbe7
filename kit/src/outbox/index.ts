export { appendEvents } from "./appendEvents";
export type { NewEvent } from "./events";
export { listEvents } from "./listEvents";
export { type Expander, startOutboxRelay, type OutboxRelay, type OutboxRelayOptions } from "./relay";
export { republishSince, type OutboxRow } from "./store";
