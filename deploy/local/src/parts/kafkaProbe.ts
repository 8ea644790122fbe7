import { connect } from "node:net";

const METADATA_API = 3;
const METADATA_VERSION = 1;
const TIMEOUT_MS = 2_000;

/**
 * Asks the first broker for the list of brokers. An open broker that is not registered yet returns
 * an empty one, and an early client would retry slowly. The bytes are built by hand, because one
 * request needs no client library.
 */
export function askForBrokers(brokers: string): Promise<void> {
  const [host, port] = (brokers.split(",")[0] ?? "").split(":");
  return new Promise((resolve, reject) => {
    const socket = connect({ host: host ?? "127.0.0.1", port: Number(port ?? 9092) });
    let received = Buffer.alloc(0);
    const finish = (error?: Error) => {
      socket.destroy();
      if (error) reject(error);
      else resolve();
    };
    socket.setTimeout(TIMEOUT_MS, () => finish(new Error("the broker did not answer")));
    socket.once("error", finish);
    socket.once("close", () => finish(new Error("the broker closed the connection")));
    socket.once("connect", () => socket.write(metadataRequest()));
    socket.on("data", (chunk: Buffer) => {
      received = Buffer.concat([received, chunk]);
      // Size, correlation id, number of brokers: each a 32-bit integer.
      if (received.length >= 12)
        finish(received.readInt32BE(8) > 0 ? undefined : new Error("no broker is registered yet"));
    });
  });
}

function metadataRequest(): Buffer {
  const request = Buffer.alloc(18);
  request.writeInt32BE(14, 0); // The size of the rest.
  request.writeInt16BE(METADATA_API, 4);
  request.writeInt16BE(METADATA_VERSION, 6);
  request.writeInt32BE(1, 8); // Our number for this request.
  request.writeInt16BE(-1, 12); // No client name.
  request.writeInt32BE(0, 14); // About no topic.
  return request;
}
