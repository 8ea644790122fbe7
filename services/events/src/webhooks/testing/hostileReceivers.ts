import { createServer, type RequestListener } from "node:http";
import { type AddressInfo, createServer as createNetServer, type Server, type Socket } from "node:net";

const CHUNK = Buffer.alloc(64 * 1024);
const GIGABYTE = 2 ** 30;

export interface HostileReceiver {
  url: string;
  /** Requests, or connections of a receiver that never reads. */
  count(): number;
  /** Bytes of answers that were handed to the system. */
  sentBytes(): number;
  close(): Promise<void>;
}

/** The ways in which an endpoint of a partner fails. */
export const HOSTILE = [
  "answers 500",
  "hangs",
  "resets",
  "redirects",
  "answers 1 GB",
  "never reads",
] as const;

export async function startHostileReceiver(kind: (typeof HOSTILE)[number]): Promise<HostileReceiver> {
  const sockets = new Set<Socket>();
  let [count, sentBytes] = [0, 0];
  const listeners: Record<Exclude<typeof kind, "never reads">, RequestListener> = {
    "answers 500": (_, response) => void response.writeHead(500).end("no"),
    hangs: () => undefined,
    resets: (request) => request.socket.resetAndDestroy(),
    redirects: (_, response) => void response.writeHead(302, { location: "/elsewhere" }).end(),
    "answers 1 GB": (_, response) => {
      const more = (): void => {
        for (sentBytes += CHUNK.length; sentBytes < GIGABYTE && response.write(CHUNK);)
          sentBytes += CHUNK.length;
      };
      response.writeHead(500).on("drain", more);
      more();
    },
  };
  const server: Server =
    kind === "never reads"
      ? createNetServer((socket) => {
          count += 1;
          socket.pause();
        })
      : createServer((request, response) => {
          count += 1;
          listeners[kind](request, response);
        });
  server.on("connection", (socket: Socket) => {
    sockets.add(socket.on("error", () => undefined).on("close", () => sockets.delete(socket)));
  });
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  return {
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}/hook`,
    count: () => count,
    sentBytes: () => sentBytes,
    async close() {
      for (const socket of sockets) socket.destroy();
      await new Promise((resolve) => server.close(resolve));
    },
  };
}
