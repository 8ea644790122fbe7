import { Socket } from "node:net";
import { type Address, type Dial } from "./dial";
import { giveWholeAnswers } from "./wholeAnswers";

/** As kafkajs tells of it. */
export interface RequestTimeout {
  payload: { apiName: string; broker: string };
}

/** Those of one client of kafkajs. */
export interface Connections {
  open: (address: Address) => Socket;
  /** A peer that vanished without a word leaves a connection that looks open for a quarter of an hour, and kafkajs goes on using it. */
  hangUp: () => void;
  /** Hangs up, and leaves a broker alone that did not even say what it can do: kafkajs would ask it first, for ever, and the others never. */
  timedOut: (event: RequestTimeout) => void;
}

/** For so long, when there are others. */
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
      const socket = giveWholeAnswers(dial(address));
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
