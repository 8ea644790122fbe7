import { Text } from "@mantine/core";
import { type ReactNode } from "react";
import { formatTime } from "../format/times";
import { Empty } from "./states";
import { type TimelineEvent } from "./timeline";

/** Events in their order, with the time and the service of each. */
export function TimelineView({ events }: { events: readonly TimelineEvent[] }): ReactNode {
  if (events.length === 0) return <Empty>No service knows an event of it.</Empty>;
  return (
    <ol className="timeline">
      {events.map(({ at, source, title, details, tone }, index) => (
        <li key={index} data-tone={tone}>
          <Text size="xs" className="quiet">
            {formatTime(at)} · {source}
          </Text>
          <Text size="sm" fw={600}>
            {title}
          </Text>
          {details === undefined ? undefined : (
            <Text size="sm" className="wrap">
              {details}
            </Text>
          )}
        </li>
      ))}
    </ol>
  );
}
