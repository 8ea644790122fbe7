import { Socket } from "node:net";
import { type Address, type Dial } from "./dial";
import { bufferWholeResponses } from "./wholeResponses";

/** kafkajs' event of a request timeout. */
export interface RequestTimeout {
  payload: { apiName: string; broker: string };
}

/** Connections of one kafkajs client. */
export interface Connections {
  open: (address: Address) => Socket;
  /**
   * Closes all connections: one to a vanished peer looks open for a quarter of an hour, and kafkajs
   * keeps using it.
   */
  hangUp: () => void;
  /**
   * Closes the connections, and avoids a broker that did not even answer ApiVersions: kafkajs would
   * ask it first, for ever.
   */
  timedOut: (event: RequestTimeout) => void;
}

/** How long a silent broker is avoided, when there are others. */
const MUTE_MS = 30_000;

export function createConnections(dial: Dial, brokers: readonly string[], onDial: () => void): Connections {
  const sockets = new Set<Socket>();
  const muteUntilMs = new Map<string, number>();
  const hangUp = () => sockets.forEach((socket) => socket.destroy(new Error("no answer in time")));
  return {
    open(address) {
      onDial();
      const broker = `${address.host}:${address.port}`;
      if ((muteUntilMs.get(broker) ?? 0) > performance.now())
        return new Socket().destroy(new Error(`${broker} has not answered`));
      const socket = bufferWholeResponses(dial(address));
      socket.setKeepAlive(true, 60_000);
      sockets.add(socket);
      return socket.once("close", () => sockets.delete(socket));
    },
    hangUp,
    timedOut({ payload: { apiName, broker } }) {
      if (apiName === "ApiVersions" && brokers.length > 1)
        muteUntilMs.set(broker, performance.now() + MUTE_MS);
      hangUp();
    },
  };
}
