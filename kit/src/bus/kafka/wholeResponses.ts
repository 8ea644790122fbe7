import { type Socket } from "node:net";

/** Bytes of the length before each answer. */
const LENGTH_BYTES = 4;

/**
 * Makes a connection emit complete answers only. kafkajs keeps a partial answer across connections
 * and appends the next connection's bytes to it: it then reads nonsense, and throws where nothing
 * can catch it.
 */
export function bufferWholeResponses(socket: Socket): Socket {
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

/** Collects chunks and returns the complete answers. */
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

/**
 * Length of the answer at this position, including its length field; or of the field itself while
 * it is incomplete.
 */
function lengthAt(bytes: Buffer, start: number): number {
  if (bytes.length - start < LENGTH_BYTES) return LENGTH_BYTES;
  const length = bytes.readInt32BE(start);
  if (length < 0) throw new Error("what answers is no Kafka broker");
  return LENGTH_BYTES + length;
}

// oxlint-disable-next-line typescript/no-explicit-any -- as node's own types have it
type Listener = (...args: any[]) => void;
