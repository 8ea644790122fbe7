/**
 * Deals the partitions in turn to the members that want their topic. Every member computes the same
 * result, so no leader is needed. Members with different topics, as during a roll-out, leave no
 * partition without a reader.
 */
export function assignPartitions<P extends { topic: string }>(
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
