/**
 * Processes a stream's requests concurrently up to a limit, and yields results in request order.
 * Takes no further request while results are unread, as flow control.
 */
export async function* inOrder<I, O>(
  source: AsyncIterable<I>,
  maxInFlight: number,
  work: (item: I) => Promise<O>,
): AsyncIterable<O> {
  const inFlight: Promise<O>[] = [];
  let ended = false;
  let failure: unknown;
  let room = signal();
  let news = signal();

  const reading = (async () => {
    try {
      for await (const item of source) {
        const result = work(item);
        // Handled at its turn.
        result.catch(() => undefined);
        inFlight.push(result);
        news.give();
        while (inFlight.length >= maxInFlight && !ended) await room.taken;
        if (ended) return;
      }
    } catch (error) {
      failure = error;
    } finally {
      ended = true;
      news.give();
    }
  })();

  try {
    for (;;) {
      const next = inFlight.shift();
      if (next !== undefined) {
        room.give();
        room = signal();
        yield await next;
        continue;
      }
      if (ended) break;
      await news.taken;
      news = signal();
    }
    if (failure !== undefined) throw asError(failure);
  } finally {
    ended = true;
    room.give();
    void reading;
  }
}

function signal(): { taken: Promise<void>; give: () => void } {
  let give: () => void = () => undefined;
  const taken = new Promise<void>((resolve) => (give = resolve));
  return { taken, give };
}

function asError(error: unknown): Error {
  return error instanceof Error ? error : new Error(String(error));
}
