import { type Socket } from "node:net";

/** Before each answer stands how long it is, in so many bytes. */
const LENGTH_BYTES = 4;

/**
 * Has a connection give whole answers only. kafkajs keeps what it has of one when the connection ends, and takes what the next connection says for the
 * rest of it: from then on it reads nonsense, and throws where nobody can catch it.
 */
export function giveWholeAnswers(socket: Socket): Socket {
  const whole = createFramer();
  const listen = socket.on.bind(socket) as (event: string, listener: Listener) => Socket;
  socket.on = (event: string, listener: Listener) =>
    listen(event, event === "data" ? (chunk: Buffer) => giveOn(chunk, listener) : listener);
  return socket;

  function giveOn(chunk: Buffer, listener: Listener): void {
    let answers: Buffer | undefined;
    try {
      answers = whole(chunk);
    } catch (error) {
      socket.destroy(error as Error);
      return;
    }
    if (answers) listener(answers);
  }
}

/** Takes what arrives, and gives as much of it as is whole. */
export function createFramer(): (chunk: Buffer) => Buffer | undefined {
  let kept: Buffer[] = [];
  let keptBytes = 0;
  let neededBytes = LENGTH_BYTES;

  return (chunk) => {
    kept.push(chunk);
    keptBytes += chunk.length;
    if (keptBytes < neededBytes) return undefined;
    const bytes = kept.length === 1 ? chunk : Buffer.concat(kept, keptBytes);
    let end = 0;
    neededBytes = lengthAt(bytes, 0);
    while (bytes.length - end >= neededBytes) {
      end += neededBytes;
      neededBytes = lengthAt(bytes, end);
    }
    const rest = bytes.subarray(end);
    kept = rest.length > 0 ? [rest] : [];
    keptBytes = rest.length;
    return end > 0 ? bytes.subarray(0, end) : undefined;
  };
}

/** Of the answer that begins here, with its length's own bytes; of one whose length is not there yet, these. */
function lengthAt(bytes: Buffer, start: number): number {
  if (bytes.length - start < LENGTH_BYTES) return LENGTH_BYTES;
  const length = bytes.readInt32BE(start);
  if (length < 0) throw new Error("what answers is no Kafka broker");
  return LENGTH_BYTES + length;
}

// oxlint-disable-next-line typescript/no-explicit-any -- as node's own types have it
type Listener = (...args: any[]) => void;
