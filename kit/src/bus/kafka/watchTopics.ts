import { typeOf } from "./topics";

/** The used part of kafkajs' cluster. */
interface Brokers {
  refreshMetadata(): Promise<void>;
}

/**
 * Reports, once, that the brokers no longer have the topic. kafkajs would wait for a new topic and
 * resume at its old positions, past as many messages as it had read of the old one. A new member
 * asks for its positions, which were deleted with the topic.
 */
export function watchTopics(brokers: Brokers, onGone: (error: unknown) => void): void {
  const refresh = brokers.refreshMetadata.bind(brokers);
  brokers.refreshMetadata = async () => {
    try {
      await refresh();
    } catch (error) {
      if (typeOf(error) === "UNKNOWN_TOPIC_OR_PARTITION") {
        brokers.refreshMetadata = refresh;
        onGone(error);
      }
      throw error;
    }
  };
}
