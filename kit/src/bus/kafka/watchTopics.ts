import { typeOf } from "./topics";

/** What it takes of kafkajs' view of the brokers. */
interface Brokers {
  refreshMetadata(): Promise<void>;
}

/**
 * Tells, once, when the brokers have no such topic any more. Kafkajs would wait until it is made anew and go on at its old positions there, past as many
 * messages as it had read of the old one. A consumer that joins anew asks for its positions, and those went with the topic.
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
