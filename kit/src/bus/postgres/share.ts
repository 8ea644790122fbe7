import type { Member, PartitionState } from "./store";

/**
 * Which of the partitions are the member's share: they are dealt in turn to the members that want them. Every member computes this for
 * itself; while two see different members, the rows of the cursors decide, and the next look settles it.
 */
export function shareOf(
  memberId: string,
  members: readonly Member[],
  partitions: readonly Pick<PartitionState, "id" | "topic">[],
): Set<number> {
  const share = new Set<number>();
  partitions.forEach(({ id, topic }, turn) => {
    const wanting = members.filter(({ topics }) => topics.includes(topic));
    if (wanting.length > 0 && wanting[turn % wanting.length]!.member_id === memberId) share.add(id);
  });
  return share;
}
