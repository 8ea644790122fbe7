import type { Log } from "../log";
import { createPause } from "../pause";
import type { OwnConnection } from "./connections";
import type { Listener } from "./types";

const FIRST_PAUSE_MS = 50;
const LONGEST_PAUSE_MS = 5_000;

export interface ListenParts {
  open: () => Promise<OwnConnection>;
  channel: string;
  onNotify: (payload: string) => void;
  log: Log;
}

/**
 * Resolves after the first attempt, also a failed one. Reconnects in the background until it is
 * closed.
 */
export async function startListener({ open, channel, onNotify, log }: ListenParts): Promise<Listener> {
  const rest = createPause();
  let current: OwnConnection | undefined;
  let firstAttempt: () => void;
  const attempted = new Promise<void>((resolve) => (firstAttempt = resolve));

  const listenOnce = async (): Promise<void> => {
    current = await open();
    const { client, session, close } = current;
    try {
      const lost = new Promise<void>((resolve) => client.once("end", resolve));
      client.on("notification", (message) => onNotify(message.payload ?? ""));
      // Uses the session, so that the watchdog ends a connection that never answers.
      await session.command(`listen ${client.escapeIdentifier(channel)}`);
      firstAttempt();
      onNotify("");
      if (!rest.closed) await lost;
    } finally {
      current = undefined;
      await close();
    }
  };

  const listenUntilClosed = async (): Promise<void> => {
    for (let pauseMs = FIRST_PAUSE_MS; !rest.closed; pauseMs = Math.min(pauseMs * 2, LONGEST_PAUSE_MS)) {
      const startedMs = performance.now();
      await listenOnce().catch((error: unknown) =>
        log.warn({ err: error, channel }, "listening was interrupted"),
      );
      firstAttempt();
      if (performance.now() - startedMs > LONGEST_PAUSE_MS) pauseMs = FIRST_PAUSE_MS;
      await rest.sleepUnwoken(pauseMs * (0.5 + Math.random() / 2));
    }
  };

  const done = listenUntilClosed();
  await attempted;
  return {
    async close() {
      rest.close();
      await current?.close();
      await done;
    },
  };
}
