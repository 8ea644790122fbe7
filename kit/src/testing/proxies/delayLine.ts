import { type Socket } from "node:net";
import { type ProxyMode } from "./mode";

const DELAY_MS = 200;
const JITTER_MS = 100;
/** 256 kbit/s, each direction of each connection for itself. */
const BYTES_PER_MS = 32;
const LOST = 0.05;
/**
 * TCP resends lost segments, so a loss is a pause: from the shortest timeout of a sender to a
 * sender that waited twice.
 */
const SENT_AGAIN_MS = [200, 1_000] as const;
/** Buffer of one direction. A faster sender must wait. */
const MAX_BYTES_AHEAD = 64 * 1024;

/** Bytes of one direction on their way, in order. None of them gets lost. */
export interface DelayLine {
  /** Delivers the bytes now or, as the mode says, later. */
  enter(bytes: number, arrive: () => void): void;
  /** Delivers the bytes that are due. A change of the mode calls it. */
  look(): void;
  /** Drops the bytes on their way. */
  end(): void;
}

interface Passing {
  bytes: number;
  dueMs: number;
  arrive: () => void;
}

export function createDelayLine(from: Socket, mode: () => ProxyMode): DelayLine {
  const passing: Passing[] = [];
  let bytesAhead = 0;
  let lastDueMs = 0;
  let timer: NodeJS.Timeout | undefined;

  function look(): void {
    clearTimeout(timer);
    if (mode().kind === "clogged") return;
    const now = performance.now();
    while (passing.length > 0 && passing[0]!.dueMs <= now) {
      const { bytes, arrive } = passing.shift()!;
      bytesAhead -= bytes;
      arrive();
    }
    if (bytesAhead <= MAX_BYTES_AHEAD) from.resume();
    if (passing.length > 0) timer = setTimeout(look, passing[0]!.dueMs - now);
  }

  return {
    enter(bytes, arrive) {
      const { lateMs, transferMs } = slownessOf(mode(), bytes);
      lastDueMs = Math.max(lastDueMs, performance.now() + lateMs) + transferMs;
      bytesAhead += bytes;
      passing.push({ bytes, dueMs: lastDueMs, arrive });
      if (bytesAhead > MAX_BYTES_AHEAD) from.pause();
      look();
    },
    look,
    end() {
      clearTimeout(timer);
      passing.length = 0;
    },
  };
}

function slownessOf(mode: ProxyMode, bytes: number): { lateMs: number; transferMs: number } {
  if (mode.kind === "delay") return { lateMs: mode.delayMs, transferMs: 0 };
  if (mode.kind === "slow") return { lateMs: lateness(mode.random), transferMs: bytes / BYTES_PER_MS };
  return { lateMs: 0, transferMs: 0 };
}

function lateness(random: () => number): number {
  const onceMs = DELAY_MS + JITTER_MS * (2 * random() - 1);
  if (random() >= LOST) return onceMs;
  const [leastMs, mostMs] = SENT_AGAIN_MS;
  return onceMs + leastMs + random() * (mostMs - leastMs);
}
