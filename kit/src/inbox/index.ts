export {
  dropDeadLetter,
  listDeadLetters,
  replayDeadLetters,
  showDeadLetter,
  type DeadLetter,
  type DeadLetterFilter,
  type DeadLetterSummary,
} from "./deadLetters";
export { listConsumers, type ConsumerPosition } from "./consumers";
export {
  MalformedEventError,
  type BulkHandler,
  type ConsumerSpec,
  type EventHandler,
  type ReceivedEvent,
} from "./events";
export type { FeedClient } from "./feedReader";
export { startConsumer, type RunningConsumer, type StartConsumerOptions } from "./startConsumer";
