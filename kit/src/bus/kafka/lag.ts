import { ageOfPosition } from "../oldestAge";
import type { PartitionLag } from "../port";

interface Position {
  partition: number;
  offset: string;
}

/** What it takes of kafkajs' admin client. */
interface Positions {
  fetchOffsets(of: {
    groupId: string;
    topics: string[];
  }): Promise<{ topic: string; partitions: Position[] }[]>;
  fetchTopicOffsets(topic: string): Promise<(Position & { low: string; high: string })[]>;
  fetchTopicOffsetsByTimestamp(topic: string, timestampMs: number): Promise<Position[]>;
}

export async function readLag(admin: Positions, group: string, topics: string[]): Promise<PartitionLag[]> {
  const result: PartitionLag[] = [];
  for (const { topic, partitions } of await admin.fetchOffsets({ groupId: group, topics })) {
    const positionAt = positionsInTime(admin, topic);
    for (const { partition, low, high } of await admin.fetchTopicOffsets(topic)) {
      const committed = offsetOf(partitions, partition) ?? -1n;
      // Before the oldest message that is kept: a new group, or messages that were dropped unread.
      const position = committed < BigInt(low) ? BigInt(low) : committed;
      const messages = Math.max(0, Number(BigInt(high) - position));
      const ageAt = async (agoMs: number): Promise<bigint> =>
        offsetOf(await positionAt(agoMs), partition) ?? BigInt(high);
      const oldestAgeMs = messages === 0 ? 0 : await ageOfPosition(position, ageAt);
      result.push({ topic, partition, messages, oldestAgeMs });
    }
  }
  return result.sort((a, b) => a.topic.localeCompare(b.topic) || a.partition - b.partition);
}

/** All partitions answer at once, and the search asks about the same times for each of them. */
function positionsInTime(admin: Positions, topic: string): (agoMs: number) => Promise<Position[]> {
  const nowMs = Date.now();
  const asked = new Map<number, Promise<Position[]>>();
  return (agoMs) => {
    const answer = asked.get(agoMs) ?? admin.fetchTopicOffsetsByTimestamp(topic, Math.round(nowMs - agoMs));
    asked.set(agoMs, answer);
    return answer;
  };
}

function offsetOf(positions: Position[], partition: number): bigint | undefined {
  const found = positions.find((position) => position.partition === partition);
  return found && BigInt(found.offset);
}
