const BUCKET = /^payment_projection_lag_seconds_bucket\{([^}]*)\} (\d+)$/;
const TOPIC = 'topic="wonrail.ledger.v1"';

/** How many batches of the journal payment wrote within each lag in seconds, since it started. */
export type LagBuckets = Map<number, number>;

/** Reads the projection lag of payment's replica from its metrics. */
export async function readLag(ops: string): Promise<LagBuckets> {
  const text = await (await fetch(`http://${ops}/metrics`)).text();
  const buckets: LagBuckets = new Map();
  for (const line of text.split("\n")) {
    const [, labels = "", count] = BUCKET.exec(line) ?? [];
    if (!labels.includes(TOPIC)) continue;
    const bound = /le="([^"]+)"/.exec(labels)![1]!;
    buckets.set(bound === "+Inf" ? Infinity : Number(bound), Number(count));
  }
  return buckets;
}

/** The upper bound of the bucket in which the share of the batches between two readings lies. */
export function lagAt(share: number, before: LagBuckets, after: LagBuckets): number {
  const counts = [...after].map(([bound, count]) => [bound, count - (before.get(bound) ?? 0)] as const);
  const total = Math.max(0, ...counts.map(([, count]) => count));
  const found = counts.sort(([one], [other]) => one - other).find(([, count]) => count >= share * total);
  if (total === 0 || !found) throw new Error("payment has projected no batch");
  return found[0];
}
