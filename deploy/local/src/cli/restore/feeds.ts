import { SERVICES, withAdmin, type World } from "./clients";

/** How far a consumer group has read the feed of another service. */
export interface FeedReading {
  topic: string;
  group: string;
  /** Events of the feed. */
  events: number;
  /** Events that the group has not handled. Negative: the feed's database is older than the group's. */
  behind: number;
  deadLetters: number;
}

/** Compares the feeds of all services with their consumers. */
export async function readFeeds(world: World): Promise<FeedReading[]> {
  const systems = [];
  for (const service of SERVICES)
    systems.push(await withAdmin(world, service, (client, operator) => client.getSystem({ operator })));
  const events = new Map(systems.flatMap(({ feed }) => (feed ? [[feed.topic, Number(feed.events)]] : [])));
  return systems.flatMap(({ reading }) =>
    reading.map(({ consumerGroup: group, topic, deadLetters, events: handled }) => ({
      ...{ topic, group, events: events.get(topic) ?? 0, deadLetters },
      behind: (events.get(topic) ?? 0) - Number(handled),
    })),
  );
}
