import { setTimeout as sleep } from "node:timers/promises";
import { atMost, type Result } from "../report";
import { SENDS } from "./sections";
import { type World } from "./world";

const SERVICES = ["gateway", "auth", "wallet", "ledger", "payment", "chain-relayer", "events"];
const MAX_OPEN = 5_000;

/** Values of the first and the second half. */
type Halves<T> = [T, T];

/** An open loop at half of the peak rate: requests start when due, and latency counts from then. */
export async function soak(world: World, seconds: number, peakPerSecond: number): Promise<Result[]> {
  const http = world.open(256);
  const perSecond = Math.max(1, Math.floor(peakPerSecond / 2));
  const count = perSecond * seconds;
  const latencies: Halves<number[]> = [[], []];
  const memory: Record<string, Halves<number>> = {};
  const open = new Set<Promise<void>>();
  const failures = new Map<string, number>();
  const fail = (why: string): void => void failures.set(why, (failures.get(why) ?? 0) + 1);

  const sendOne = async (dueMs: number, into: number[]): Promise<void> => {
    const status = await SENDS.payment(http, world).catch((error: Error) => error.message);
    if (status === 201) into.push(performance.now() - dueMs);
    else fail(`${status}`);
  };
  const startMs = performance.now();
  for (let sent = 0; sent < count; sent += 1) {
    const dueMs = startMs + (sent * 1_000) / perSecond;
    const earlyMs = dueMs - performance.now();
    if (earlyMs > 0) await sleep(earlyMs);
    const half = sent < count / 2 ? 0 : 1;
    if (open.size >= MAX_OPEN) fail("not sent, too many are under way");
    else {
      const work: Promise<void> = sendOne(dueMs, latencies[half]).finally(() => open.delete(work));
      open.add(work);
    }
    if (sent % perSecond === 0) noteMemory(memory, await world.memoryMb(), half);
  }
  await Promise.all(open);
  http.close();
  const [early, late] = [p99(latencies[0]), p99(latencies[1])];
  const drift = `${perSecond}/s for ${seconds} s, p99 ${early.toFixed(0)} ms, then ${late.toFixed(0)} ms`;
  const failed = [...failures.values()].reduce((sum, count) => sum + count, 0);
  const why = [...failures].map(([why, count]) => `${count} × ${why}`).join(", ");
  return [
    atMost("soak.failed", failed, "requests", 0, why),
    atMost("soak.p99_drift", late / early, "×", 1.5, drift),
    ...SERVICES.map((name) => {
      const [first, second] = memory[name] ?? [0, 0];
      const note = `highest in the first half ${first.toFixed(0)}, in the second ${second.toFixed(0)}`;
      return atMost(`soak.memory.${name}`, Math.max(first, second), "MB", 180, note);
    }),
  ];
}

function noteMemory(memory: Record<string, Halves<number>>, now: Record<string, number>, half: 0 | 1): void {
  for (const [name, mb] of Object.entries(now)) {
    const highest = (memory[name] ??= [0, 0]);
    highest[half] = Math.max(highest[half], mb);
  }
}

function p99(latencies: number[]): number {
  const sorted = Float64Array.from(latencies).sort();
  return sorted[Math.floor(sorted.length * 0.99)] ?? 0;
}
