/** Something that happened to an operation, told by one service. */
export interface TimelineEvent {
  /** RFC 3339; absent when the service does not know the time. */
  at?: string | undefined;
  /** The service that tells it. */
  source: string;
  title: string;
  details?: string | undefined;
  tone?: "good" | "bad" | "waits" | undefined;
}

/**
 * Sorts the events of all services by time, then in the order of the services. An event without a
 * time stays behind its predecessor from the same service.
 */
export function mergeTimelines(timelines: readonly (readonly TimelineEvent[])[]): TimelineEvent[] {
  const dated = timelines.flatMap((events, service) => {
    let last = -Infinity;
    return events.map((event, index) => {
      const time = event.at === undefined ? NaN : Date.parse(event.at);
      last = Number.isNaN(time) ? last : time;
      return { event, time: last, service, index };
    });
  });
  return dated
    .sort((a, b) => compare(a.time, b.time) || a.service - b.service || a.index - b.index)
    .map(({ event }) => event);
}

/** Two infinities are equal; their difference would be no number. */
function compare(a: number, b: number): number {
  return a === b ? 0 : a < b ? -1 : 1;
}
