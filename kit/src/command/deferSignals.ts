import { setTimeout as sleep } from "node:timers/promises";
import { type Terminal } from "./runCommands";

const SIGNALS = ["SIGINT", "SIGTERM"] as const;
/** A process without further work would exit before the signal that it raised arrives. */
const ARRIVAL_MS = 100;

/**
 * Finishes work that shows a secret once. A signal is raised again afterwards: an earlier end could
 * commit the work without showing the secret.
 */
export async function deferSignals<T>({ err }: Pick<Terminal, "err">, work: () => Promise<T>): Promise<T> {
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
  try {
    return await work();
  } finally {
    for (const one of restore) one();
    if (raised) {
      process.kill(process.pid, raised);
      await sleep(ARRIVAL_MS);
    }
  }
}
