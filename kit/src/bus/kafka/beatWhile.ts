/** kafkajs sends heartbeats only between batches. A failed one is left to the next call between batches, which ends in a new join. */
export function beatWhile(member: { heartbeat(): Promise<void> }, everyMs: number): { stop: () => void } {
  const timer = setInterval(() => void member.heartbeat().catch(() => undefined), everyMs);
  return { stop: () => clearInterval(timer) };
}
