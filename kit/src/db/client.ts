import { Socket } from "node:net";
import { Client, type ClientBase, type ClientConfig } from "pg";

const sockets = new WeakMap<ClientBase, Socket>();
const standbys = new WeakSet<ClientBase>();

/** PostgreSQL's report of a setting, before a session's first statement and after each change. */
interface ParameterStatus {
  parameterName: string;
  parameterValue: string;
}

/** A client that `destroyConnection` can close, and that knows the role of its server. */
export class SocketClient extends Client {
  constructor(config: ClientConfig = {}) {
    const socket = new Socket();
    super({ ...config, stream: () => socket });
    sockets.set(this, socket);
    this.connection.on("parameterStatus", ({ parameterName, parameterValue }: ParameterStatus) => {
      if (parameterName !== "in_hot_standby") return;
      if (parameterValue === "on") standbys.add(this);
      else standbys.delete(this);
    });
  }
}

/** True when the server is a read-only stand-by, whose rows may be old. */
export function isStandby(client: ClientBase): boolean {
  return standbys.has(client);
}

/**
 * Closes the connection at once: its statements fail as if it were lost. `end` of a pipelining client
 * would wait for the answers that do not come.
 */
export function destroyConnection(client: ClientBase): void {
  sockets.get(client)?.destroy();
}
