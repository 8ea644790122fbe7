/** Characters that are written to the client at once. */
const CHUNK_LENGTH = 64 * 1024;

/** Waits for the first item, so that a refusal is an ordinary answer. */
export async function startReading<T>(items: AsyncGenerator<T, void, undefined>): Promise<AsyncIterable<T>> {
  const first = await items.next();
  return (async function* () {
    if (first.done) return;
    yield first.value;
    yield* items;
  })();
}

/** Joins short texts, because each write to a connection has a cost. */
export async function* inChunks(texts: AsyncIterable<string>): AsyncGenerator<string, void, undefined> {
  let chunk = "";
  for await (const text of texts) {
    chunk += text;
    if (chunk.length < CHUNK_LENGTH) continue;
    yield chunk;
    chunk = "";
  }
  if (chunk !== "") yield chunk;
}
