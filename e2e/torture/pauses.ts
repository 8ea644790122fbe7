import { type HistoryLine } from "./history";

/**
 * The longest time without a successful write during each kind of fault, in milliseconds. The time
 * after a fault counts until the next success or the next fault.
 */
export async function measurePauses(
  history: AsyncIterable<HistoryLine> | Iterable<HistoryLine>,
): Promise<Map<string, number>> {
  const writes = new Set<number>();
  const running = new Set<string>();
  /** Faults that ran at some time since the last success. */
  let affected = new Set<string>();
  let lastSuccess: number | undefined;
  const pauses = new Map<string, number>();
  for await (const line of history) {
    if (line.kind === "call" && line.key !== undefined) writes.add(line.operation);
    if (line.kind === "fault" && line.phase === "end") running.delete(line.fault);
    const isBegin = line.kind === "fault" && line.phase === "begin";
    const isSuccess = line.kind === "answer" && line.status < 300 && writes.has(line.operation);
    if (!isBegin && !isSuccess) continue;
    const pauseMs = line.at - (lastSuccess ?? line.at);
    for (const fault of affected) pauses.set(fault, Math.max(pauses.get(fault) ?? 0, pauseMs));
    if (isBegin) running.add(line.fault);
    if (isSuccess) lastSuccess = line.at;
    affected = new Set(running);
  }
  return pauses;
}
