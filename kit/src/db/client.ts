import { Socket } from "node:net";
import { Client, type ClientBase, type ClientConfig } from "pg";

const sockets = new WeakMap<ClientBase, Socket>();

/** A client that `destroyConnection` can close. */
export class SocketClient extends Client {
  constructor(config: ClientConfig = {}) {
    const socket = new Socket();
    super({ ...config, stream: () => socket });
    sockets.set(this, socket);
  }
}

/**
 * Closes the connection at once: its statements fail as if it were lost. `end` of a pipelining client
 * would wait for the answers that do not come.
 */
export function destroyConnection(client: ClientBase): void {
  sockets.get(client)?.destroy();
}
