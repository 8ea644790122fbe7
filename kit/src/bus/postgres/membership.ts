import type { Database } from "../../db";
import type { Log } from "../../log";
import type { BusMetrics } from "../metrics";
import { deal } from "../deal";
import type { Pump } from "./pump";
import * as store from "./store";

export interface MembershipParts {
  db: Database;
  group: string;
  topics: string[];
  member: string;
  /** A member that was not heard of for this long has lost its partitions. */
  leaseMs: number;
  pump: Pump;
  metrics: BusMetrics;
  log: Log;
}

export interface Membership {
  /** Says that this member is alive, and brings its partitions to what its share is now. */
  look(): Promise<void>;
  leave(): Promise<void>;
}

/**
 * One member's side of a group. Each sees who else is alive, computes its own share of the partitions, gives back what is no longer its
 * own when the batch in hand is done, and takes what is free. There is no leader, and partitions that stay where they are do not pause.
 */
export function createMembership(parts: MembershipParts): Membership {
  const { db, group, topics, member, leaseMs, pump } = parts;
  const leaving = new Set<number>();

  const giveBack = async (partitionId: number): Promise<void> => {
    leaving.add(partitionId);
    try {
      await pump.disown(partitionId);
      await store.releasePartition(db, group, member, partitionId);
      await store.announceGroup(db, group);
    } catch (error) {
      parts.log.warn({ err: error, group }, "a partition could not be given back, it will be tried again");
    } finally {
      leaving.delete(partitionId);
    }
  };

  const take = async (free: store.PartitionState[]): Promise<void> => {
    const taken = await store.claimPartitions(
      db,
      group,
      member,
      free.map(({ id }) => id),
    );
    for (const { partition_id: partitionId, position, epoch } of taken) {
      const { topic, number } = free.find(({ id }) => id === partitionId)!;
      pump.own({ group, member, partitionId, topic, number, position, epoch });
    }
  };

  return {
    async look() {
      await store.upsertMember(db, { group, member, topics, leaseMs });
      const members = await store.listMembers(db, group);
      const partitions = await store.listPartitions(db, group, topics);
      const share = new Set(
        deal(members, partitions)
          .get(member)
          ?.map(({ id }) => id),
      );
      const held = pump.positions();

      const mine = new Set(partitions.filter(({ owner }) => owner === member).map(({ id }) => id));
      const stolen = [...held.keys()].filter((id) => !mine.has(id));
      // Also what is held no more: giving it back may have failed halfway.
      const surplus = [...mine].filter((id) => !share.has(id) && !leaving.has(id));
      const alive = new Set(members.map(({ id }) => id));
      const free = partitions.filter(
        ({ id, owner }) =>
          share.has(id) &&
          !held.has(id) &&
          !leaving.has(id) &&
          (owner === null || owner === member || !alive.has(owner)),
      );

      stolen.forEach((id) => void pump.disown(id));
      surplus.forEach((id) => void giveBack(id));
      if (free.length > 0) await take(free);
      if (stolen.length + surplus.length + free.length > 0) reportShare(parts);
      pump.wake(
        partitions
          .filter(({ id, next_position }) => next_position > (held.get(id) ?? next_position))
          .map(({ id }) => id),
      );
    },
    async leave() {
      await pump.close();
      await store.deleteMember(db, group, member);
      await store.announceGroup(db, group);
    },
  };
}

function reportShare({ metrics, log, group, member, pump }: MembershipParts): void {
  metrics.rebalances.inc({ group });
  log.info({ group, member, partitions: [...pump.positions().keys()] }, "the consumer's partitions changed");
}
