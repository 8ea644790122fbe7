import { type ServerResponse } from "node:http";
import { type Socket } from "node:net";

const queues = new WeakMap<Socket, Set<ServerResponse>>();

/**
 * Closes queued responses when their connection ends. Node informs only the response whose turn it
 * is. Without this, pipelined requests of a client that left would stay open and unlogged.
 */
export function closeQueuedResponsesOnDisconnect(socket: Socket, res: ServerResponse): void {
  const queue = queues.get(socket) ?? trackConnection(socket);
  queue.add(res);
  res.once("close", () => queue.delete(res));
}

function trackConnection(socket: Socket): Set<ServerResponse> {
  const queue = new Set<ServerResponse>();
  queues.set(socket, queue);
  socket.once("close", () => {
    for (const res of [...queue]) if (res.socket === null) res.emit("close");
  });
  return queue;
}
