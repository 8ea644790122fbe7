import { type ServerResponse } from "node:http";
import { type Socket } from "node:net";

const queues = new WeakMap<Socket, Set<ServerResponse>>();

/**
 * Tells an answer that waits for its turn when its connection ends. Node tells only the one whose turn it is: who sent requests behind each other
 * and left would leave all but the first open for ever, counted as being served and without a line in the log, whatever they have moved.
 */
export function hearOfTheEnd(socket: Socket, res: ServerResponse): void {
  const queue = queues.get(socket) ?? startQueue(socket);
  queue.add(res);
  res.once("close", () => queue.delete(res));
}

function startQueue(socket: Socket): Set<ServerResponse> {
  const queue = new Set<ServerResponse>();
  queues.set(socket, queue);
  socket.once("close", () => {
    for (const res of [...queue]) if (res.socket === null) res.emit("close");
  });
  return queue;
}
