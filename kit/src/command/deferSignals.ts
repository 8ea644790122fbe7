import { setTimeout as sleep } from "node:timers/promises";
import { type Terminal } from "./runCommands";

const SIGNALS = ["SIGINT", "SIGTERM"] as const;
/** A process without further work would exit before the signal that it raised arrives. */
const ARRIVAL_MS = 100;

/** Works that are under way at the same time. */
let running = 0;
/** Lets signals through again. The last one of several works calls it. */
let release: () => Promise<void>;

/**
 * Finishes work that shows a secret once. A signal is raised again afterwards: an earlier end could
 * commit the work without showing the secret.
 */
export async function deferSignals<T>({ err }: Pick<Terminal, "err">, work: () => Promise<T>): Promise<T> {
  if (running === 0) release = holdSignals(err);
  running += 1;
  try {
    return await work();
  } finally {
    running -= 1;
    if (running === 0) await release();
  }
}

function holdSignals(err: Terminal["err"]): () => Promise<void> {
  let raised: NodeJS.Signals | undefined;
  const hold = (signal: NodeJS.Signals) => {
    raised ??= signal;
    err("Finishing first: the secrets are shown only once.\n");
  };
  const restore = SIGNALS.map((signal) => {
    const listeners = process.rawListeners(signal) as NodeJS.SignalsListener[];
    process.removeAllListeners(signal).on(signal, hold);
    return () => {
      process.off(signal, hold);
      for (const listener of listeners) process.on(signal, listener);
    };
  });
  return async () => {
    for (const one of restore) one();
    if (!raised) return;
    process.kill(process.pid, raised);
    await sleep(ARRIVAL_MS);
  };
}
