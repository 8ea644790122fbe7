import { setTimeout as sleep } from "node:timers/promises";
import { type Log } from "@wonrail/kit/log";
import { Gauge, type Registry } from "@wonrail/kit/metrics";
import { type QuotaName } from "./quotas";

/** A pushed change of auth. */
export type Change =
  | { kind: "started"; heartbeatMs: number }
  | { kind: "heartbeat" }
  | { kind: "keyRevoked"; keyId: string }
  | { kind: "organisationChanged"; orgId: string }
  | { kind: "quotaRecalled"; orgId: string; quota: QuotaName };

export interface WatchOptions {
  open: (signal: AbortSignal) => AsyncIterable<Change>;
  onChange: (change: Change) => void;
  log: Log;
  registry: Registry;
}

const MISSED_HEARTBEATS = 3;
const FIRST_MESSAGE_MS = 5_000;
const FIRST_PAUSE_MS = 100;
const MAX_PAUSE_MS = 2_000;

/**
 * Keeps one stream of changes open. During an interruption changes arrive later, because cached
 * entries expire by themselves.
 */
export function watchChanges({ open, onChange, log, registry }: WatchOptions): { close(): Promise<void> } {
  const stop = new AbortController();
  const connected = new Gauge({
    name: "gateway_changes_stream_up",
    help: "1 while auth's stream of changes is open",
    registers: [registry],
  });

  let isUp = false;
  function setUp(up: boolean, error?: unknown): void {
    if (up === isUp) return;
    isUp = up;
    connected.set(up ? 1 : 0);
    // Only the change is worth a line: during an outage every try fails in the same way.
    if (up) log.info("the stream of changes is open");
    else log.warn({ err: error }, "the stream of changes ended");
  }

  async function run(): Promise<void> {
    let pauseMs = FIRST_PAUSE_MS;
    while (!stop.signal.aborted) {
      const startedMs = performance.now();
      const error = await follow().catch((reason: unknown) => reason);
      if (!stop.signal.aborted) setUp(false, error);
      // A stream that lived for a while did not fail to connect, so the pause starts small again.
      pauseMs =
        performance.now() - startedMs > MAX_PAUSE_MS ? FIRST_PAUSE_MS : Math.min(MAX_PAUSE_MS, pauseMs * 2);
      await sleep(pauseMs * (0.5 + Math.random() / 2), undefined, { signal: stop.signal }).catch(
        () => undefined,
      );
    }
  }

  async function follow(): Promise<void> {
    const stream = new AbortController();
    let silenceMs = FIRST_MESSAGE_MS;
    let watchdog = setTimeout(() => stream.abort(), silenceMs);
    const onStop = () => stream.abort();
    stop.signal.addEventListener("abort", onStop);
    try {
      for await (const change of open(stream.signal)) {
        if (change.kind === "started") {
          silenceMs = change.heartbeatMs * MISSED_HEARTBEATS;
          setUp(true);
        }
        clearTimeout(watchdog);
        watchdog = setTimeout(() => stream.abort(), silenceMs);
        onChange(change);
      }
    } finally {
      clearTimeout(watchdog);
      stop.signal.removeEventListener("abort", onStop);
      stream.abort();
    }
  }

  const running = run();
  return {
    async close() {
      stop.abort();
      await running;
    },
  };
}
