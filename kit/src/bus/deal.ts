/**
 * Deals the partitions in turn to the members that want their topic. Whoever computes it from the same members and partitions gets the same,
 * so it takes no leader; members that want different topics, as in the middle of a release, leave no partition without a reader.
 */
export function deal<P extends { topic: string }>(
  members: readonly { id: string; topics: readonly string[] }[],
  partitions: readonly P[],
): Map<string, P[]> {
  const inOrder = [...members].sort((a, b) => (a.id < b.id ? -1 : 1));
  const shares = new Map<string, P[]>(inOrder.map(({ id }) => [id, []]));
  partitions.forEach((partition, turn) => {
    const wanting = inOrder.filter(({ topics }) => topics.includes(partition.topic));
    if (wanting.length > 0) shares.get(wanting[turn % wanting.length]!.id)!.push(partition);
  });
  return shares;
}
