/** Rejects at once when the signal aborts. Calls of ethers ignore signals and can wait for minutes. */
export function unlessInterrupted(signal, work) {
  return new Promise((resolve, reject) => {
    const stop = () => reject(signal.reason);
    signal.throwIfAborted();
    signal.addEventListener("abort", stop, { once: true });
    work()
      .then(resolve, reject)
      .finally(() => signal.removeEventListener("abort", stop));
  });
}

/** A signal that aborts with a delay after another one. */
export function later(signal, delayMs) {
  const controller = new AbortController();
  const abort = () => controller.abort(signal.reason);
  signal.addEventListener("abort", () => setTimeout(abort, delayMs).unref(), { once: true });
  return controller.signal;
}
