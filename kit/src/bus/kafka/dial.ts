import { connect as connectPlain, isIP, type Socket } from "node:net";
import { connect as connectTls, type ConnectionOptions } from "node:tls";

export interface Address {
  host: string;
  port: number;
  ssl?: ConnectionOptions;
  onConnect: () => void;
}

/** Opens the connection to a broker. */
export type Dial = (address: Address) => Socket;

export const dial: Dial = ({ host, port, ssl, onConnect }) => {
  if (!ssl) return connectPlain({ host, port }, onConnect).setNoDelay(true);
  const servername = isIP(host) ? {} : { servername: host };
  return connectTls({ host, port, ...servername, ...ssl }, onConnect).setNoDelay(true);
};
