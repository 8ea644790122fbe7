import { type ServerResponse } from "node:http";
import { type Socket } from "node:net";
import { type Bag, bag } from "@wonrail/kit/bag";

const queues = new WeakMap<Socket, Bag<ServerResponse>>();

/**
 * Closes queued responses when their connection ends. Node informs only the response whose turn it
 * is. Without this, pipelined requests of a client that left would stay open and unlogged.
 */
export function closeQueuedResponsesOnDisconnect(socket: Socket, res: ServerResponse): void {
  const queue = queues.get(socket) ?? trackConnection(socket);
  res.once("close", queue.put(res));
}

function trackConnection(socket: Socket): Bag<ServerResponse> {
  const queue = bag<ServerResponse>();
  queues.set(socket, queue);
  socket.once("close", () => {
    for (const res of queue.all()) if (res.socket === null) res.emit("close");
  });
  return queue;
}
