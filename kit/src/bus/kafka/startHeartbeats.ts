/**
 * Sends heartbeats during a batch, because kafkajs sends them only between batches. A failure
 * surfaces at the next one between batches, which causes a new join.
 */
export function startHeartbeats(
  member: { heartbeat(): Promise<void> },
  everyMs: number,
): { stop: () => void } {
  const timer = setInterval(() => void member.heartbeat().catch(() => undefined), everyMs);
  return { stop: () => clearInterval(timer) };
}
