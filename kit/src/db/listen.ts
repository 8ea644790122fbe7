import type { Log } from "../log";
import { createPause } from "../pause";
import type { OwnConnection } from "./connections";
import type { Listener } from "./types";

const FIRST_PAUSE_MS = 50;
const LONGEST_PAUSE_MS = 5_000;

export interface ListenParts {
  /** Opens a connection outside of the pool. */
  open: () => Promise<OwnConnection>;
  channel: string;
  /** Called for each notification, and with an empty payload after each connect. */
  onNotify: (payload: string) => void;
  log: Log;
}

/**
 * Listens on a channel (LISTEN), and reconnects in the background until it is closed. Resolves after
 * the first attempt to connect, even if that attempt failed.
 */
export async function startListener({ open, channel, onNotify, log }: ListenParts): Promise<Listener> {
  const pause = createPause();
  let current: OwnConnection | undefined;
  let firstAttempt: () => void;
  const attempted = new Promise<void>((resolve) => (firstAttempt = resolve));

  const listenOnce = async (): Promise<void> => {
    current = await open();
    const { client, session, close } = current;
    try {
      const lost = new Promise<void>((resolve) => client.once("end", resolve));
      client.on("notification", (message) => onNotify(message.payload ?? ""));
      // The session's watchdog closes a connection that never answers.
      await session.command(`listen ${client.escapeIdentifier(channel)}`);
      firstAttempt();
      onNotify("");
      if (!pause.closed) await lost;
    } finally {
      current = undefined;
      await close();
    }
  };

  const listenUntilClosed = async (): Promise<void> => {
    for (let pauseMs = FIRST_PAUSE_MS; !pause.closed; pauseMs = Math.min(pauseMs * 2, LONGEST_PAUSE_MS)) {
      const startedMs = performance.now();
      await listenOnce().catch((error: unknown) =>
        log.warn({ err: error, channel }, "the LISTEN connection ended; reconnecting"),
      );
      firstAttempt();
      // The connection worked for a while, so the next pause is short again.
      if (performance.now() - startedMs > LONGEST_PAUSE_MS) pauseMs = FIRST_PAUSE_MS;
      await pause.sleepUnwoken(pauseMs * (0.5 + Math.random() / 2));
    }
  };

  const done = listenUntilClosed();
  await attempted;
  return {
    async close() {
      pause.close();
      await current?.close();
      await done;
    },
  };
}
