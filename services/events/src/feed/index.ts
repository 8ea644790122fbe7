// The public events of each organisation. Other flows may add events by `publishChanges` and read them by the queries.
export { publishChanges } from "./commands/publishChanges";
export { type Change } from "./domain/change";
export { EVENT_TYPES, type EventType, isEventType } from "@wonrail/kit/contract/eventTypes";
export { type EventsWanted } from "./queries/listEvents";
export { type PublicEvent } from "./store/events";
export { listObjectEvents } from "./queries/listObjectEvents";
export { findEventsById } from "./store/events";
export { findKeptRange } from "./queries/findKeptRange";
export { moveKeys } from "./store/apiKeys";
export { createFeed } from "./createFeed";
