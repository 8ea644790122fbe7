import { setTimeout as sleep } from "node:timers/promises";
import type { Client } from "pg";
import type { Log } from "../log";
import type { Listener } from "./types";

const FIRST_PAUSE_MS = 50;
const LONGEST_PAUSE_MS = 5_000;

export interface ListenParts {
  open: () => Promise<Client>;
  channel: string;
  onNotify: (payload: string) => void;
  log: Log;
}

/** Resolves after the first attempt, whichever way it went: the rest happens in the background until it is closed. */
export async function startListener({ open, channel, onNotify, log }: ListenParts): Promise<Listener> {
  const stop = new AbortController();
  let current: Client | undefined;
  let firstAttempt: () => void;
  const attempted = new Promise<void>((resolve) => (firstAttempt = resolve));

  const listenOnce = async (): Promise<void> => {
    const client = await open();
    current = client;
    try {
      const lost = new Promise<void>((resolve) => client.once("end", resolve));
      client.on("notification", (message) => onNotify(message.payload ?? ""));
      await client.query(`listen ${client.escapeIdentifier(channel)}`);
      firstAttempt();
      onNotify("");
      if (!stop.signal.aborted) await lost;
    } finally {
      current = undefined;
      await client.end().catch(() => undefined);
    }
  };

  const listenUntilClosed = async (): Promise<void> => {
    for (
      let pauseMs = FIRST_PAUSE_MS;
      !stop.signal.aborted;
      pauseMs = Math.min(pauseMs * 2, LONGEST_PAUSE_MS)
    ) {
      const startedMs = Date.now();
      await listenOnce().catch((error: unknown) =>
        log.warn({ err: error, channel }, "listening was interrupted"),
      );
      firstAttempt();
      if (Date.now() - startedMs > LONGEST_PAUSE_MS) pauseMs = FIRST_PAUSE_MS;
      await sleep(pauseMs * (0.5 + Math.random() / 2), undefined, { signal: stop.signal }).catch(
        () => undefined,
      );
    }
  };

  const done = listenUntilClosed();
  await attempted;
  return {
    async close() {
      stop.abort();
      await current?.end().catch(() => undefined);
      await done;
    },
  };
}
