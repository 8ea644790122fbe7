// The public events of each organisation. Other flows may add events by `publishChanges` and read them by the queries.
export { EVENT_TYPES, isEventType } from "./domain/eventTypes";
export { type EventsWanted } from "./queries/listEvents";
export { type PublicEvent } from "./store/events";
export { createFeed } from "./createFeed";
