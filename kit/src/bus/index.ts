export { openKafkaBus, readKafkaTopic } from "./kafka";
export { MAX_MESSAGE_BYTES, MessageRefusedError, TopicMissingError, TopicRefusedError } from "./port";
export type * from "./port";
