import { type AnswerOf, type ServiceName } from "../api/services";

type SystemState = AnswerOf<"wonrail.common.v1.AdminService/GetSystem">;

export interface Reading {
  service: ServiceName;
  consumerGroup: string;
  topic: string;
  movedAt?: string | undefined;
  deadLetters: number;
  /** Events that the owner has published and the group has not handled. Absent: owner unknown. */
  lag?: number;
}

/** A group lags by the events of the topic's owner minus its own. Counts come at different times. */
export function readingsOf(states: readonly { service: ServiceName; state: SystemState }[]): Reading[] {
  const published = new Map(
    states.flatMap(({ state: { feed } }) =>
      feed === undefined ? [] : [[feed.topic, Number(feed.events)] as const],
    ),
  );
  return states.flatMap(({ service, state }) =>
    state.reading.map(({ consumerGroup, topic, events, movedAt, deadLetters }) => {
      const head = published.get(topic);
      const lag = head === undefined ? {} : { lag: Math.max(0, head - Number(events)) };
      return { service, consumerGroup, topic, movedAt, deadLetters, ...lag };
    }),
  );
}
