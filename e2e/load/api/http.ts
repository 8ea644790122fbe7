import { connect } from "node:net";

/**
 * A pool of open connections with one request at a time on each; further requests wait. It parses
 * only the gateway's part of HTTP/1.1, because the client's processor time distorts the measurement
 * and Node's client needs several times more.
 */
export function openHttp(baseUrl: string, headers: Record<string, string>, connections: number) {
  const { host, hostname, port } = new URL(baseUrl);
  const always = linesOf({ host, ...headers, "content-type": "application/json" });
  const open = new Set<Connection>();
  const idle: Connection[] = [];
  const waiting: ((connection: Connection) => void)[] = [];
  const make = (): Connection => {
    const made = openConnection(hostname, Number(port), () => {
      open.delete(made);
      if (idle.includes(made)) idle.splice(idle.indexOf(made), 1);
      waiting.shift()?.(make());
    });
    open.add(made);
    return made;
  };
  const take = (): Connection | Promise<Connection> => {
    if (idle.length > 0) return idle.pop()!;
    return open.size < connections ? make() : new Promise((resolve) => waiting.push(resolve));
  };
  const giveBack = (connection: Connection): void => {
    const next = waiting.shift();
    if (next) next(connection);
    else idle.push(connection);
  };
  return {
    /** The status of the answer, which is read to its end. */
    async send(
      method: string,
      path: string,
      body: object,
      more: Record<string, string> = {},
    ): Promise<number> {
      const connection = await take();
      const payload = JSON.stringify(body);
      const length = Buffer.byteLength(payload);
      const head = `${method} ${path} HTTP/1.1\r\n${always}${linesOf(more)}content-length: ${length}\r\n\r\n`;
      const { status, isLast } = await connection.ask(head + payload);
      if (!isLast) giveBack(connection);
      return status;
    },
    close: () => open.forEach((connection) => connection.close()),
  };
}

export type Http = ReturnType<typeof openHttp>;

interface Answer {
  status: number;
  /** The server closes the connection after it. */
  isLast: boolean;
}

interface Connection {
  ask(request: string): Promise<Answer>;
  close(): void;
}

function openConnection(host: string, port: number, onClose: () => void): Connection {
  const socket = connect({ host, port, noDelay: true });
  // Latin-1 maps each byte to one character, so lengths are right.
  socket.setEncoding("latin1").setTimeout(30_000, () => socket.destroy(new Error("no answer within 30 s")));
  let received = "";
  let waiting: { resolve(answer: Answer): void; reject(error: Error): void } | undefined;
  socket.on("data", (text: string) => {
    received += text;
    const answer = readAnswer(received);
    if (!answer) return;
    received = "";
    if (answer.isLast) socket.destroy();
    waiting?.resolve(answer);
  });
  socket.on("error", (error) => waiting?.reject(error));
  socket.on("close", () => {
    onClose();
    waiting?.reject(new Error("the connection was closed before the answer"));
  });
  return {
    ask(request) {
      socket.write(request);
      return new Promise((resolve, reject) => (waiting = { resolve, reject }));
    },
    close: () => socket.destroy(),
  };
}

/** Returns null while bytes are missing. Every answer of the gateway states its length. */
function readAnswer(received: string): Answer | null {
  const end = received.indexOf("\r\n\r\n");
  if (end === -1) return null;
  const head = received.slice(0, end);
  const length = Number(/\r\ncontent-length: (\d+)/i.exec(head)?.[1]);
  if (received.length < end + 4 + length) return null;
  return { status: Number(head.slice(9, 12)), isLast: /\r\nconnection: close/i.test(head) };
}

function linesOf(headers: Record<string, string>): string {
  return Object.entries(headers)
    .map(([name, value]) => `${name}: ${value}\r\n`)
    .join("");
}
