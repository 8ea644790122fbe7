import { PassThrough } from "node:stream";
import { type ErrorDetail, type ItemContext } from "@wonrail/proto/common/v1/common";
import { createLog, type Log } from "../log";
import { type Registry } from "../metrics";
import { type Proxy, type ProxyOptions, startProxy } from "../testing/proxies/proxy";
import { testLog } from "../testing/testLog";
import { testRegistry } from "../testing/testRegistry";
import { type ClientOptions, createClient } from "./client/createClient";
import { type Handlers, implement } from "./server/implement";
import { type GrpcServerOptions, startGrpcServer } from "./server/startGrpcServer";

/** Message of the kit's own tests. The wire form is JSON: a definition is only paths and codecs. */
export interface Note {
  text: string;
  requestId?: string;
}

export interface NoteItem {
  context: ItemContext;
  note: Note;
}

export interface Notes {
  items: NoteItem[];
}

export interface NoteAnswer {
  note?: Note;
  error?: ErrorDetail;
}

export interface NoteAnswers {
  answers: NoteAnswer[];
}

/** One method of each kind, and a bulk twin. */
export const EchoService = {
  say: { path: "/wonrail.test.v1.EchoService/Say", ...json<Note, Note>(), ...shape(false) },
  sayAll: {
    path: "/wonrail.test.v1.EchoService/SayAll",
    ...json<Notes, NoteAnswers>(),
    ...shape(false),
  },
  repeat: { path: "/wonrail.test.v1.EchoService/Repeat", ...json<Note, Note>(), ...shape(true) },
} as const;

export type EchoHandlers = Handlers<typeof EchoService>;

const cleanups: (() => Promise<void> | void)[] = [];

/** Closes all parts that the test opened. For afterEach. */
export async function closeAll(): Promise<void> {
  while (cleanups.length > 0) await cleanups.pop()!();
}

export interface Echo {
  port: number;
  registry: Registry;
  drain(graceMs: number): Promise<void>;
  setServing(serving: boolean): void;
}

export async function startEcho(
  handlers: EchoHandlers,
  options: Partial<GrpcServerOptions> = {},
): Promise<Echo> {
  const registry = testRegistry();
  const server = await startGrpcServer({
    host: "127.0.0.1",
    port: 0,
    services: [implement(EchoService, handlers)],
    log: testLog(),
    registry,
    ...options,
  });
  cleanups.push(() => server.drain(0));
  return { ...server, registry };
}

export function echoClient(port: number, options: Partial<ClientOptions> = {}) {
  const registry = testRegistry();
  const client = createClient(EchoService, {
    name: "echo",
    address: `127.0.0.1:${port}`,
    log: testLog(),
    registry,
    // An upper limit; tests of timeouts set their own.
    defaultTimeoutMs: 15_000,
    ...options,
  });
  cleanups.push(() => client.close());
  return { ...client, registry };
}

/** A TCP proxy in front of a server, for faults of the way between. */
export async function openProxy(
  port: number,
  onRequest: ProxyOptions["onRequest"] = () => undefined,
): Promise<Proxy> {
  const proxy = await startProxy({ target: { host: "127.0.0.1", port }, onRequest });
  cleanups.push(() => proxy.close());
  return proxy;
}

/** A log whose lines can be read back. */
export function recordedLog(): { log: Log; lines: () => Record<string, unknown>[] } {
  const destination = new PassThrough();
  let text = "";
  destination.on("data", (chunk: Buffer) => (text += chunk.toString()));
  const log = createLog({ service: "test", level: "debug", destination });
  const parse = (line: string) => JSON.parse(line) as Record<string, unknown>;
  return { log, lines: () => text.split("\n").filter(Boolean).map(parse) };
}

function json<Req, Res>() {
  const encode = (message: unknown) =>
    Buffer.from(
      JSON.stringify(message, (_key, value: unknown) => (typeof value === "bigint" ? String(value) : value)),
    );
  const decode = (bytes: Buffer): unknown =>
    JSON.parse(bytes.toString(), (key, value: unknown) =>
      key === "deadline" ? new Date(value as string) : value,
    );
  return {
    requestSerialize: (message: Req): Buffer => encode(message),
    requestDeserialize: (bytes: Buffer): Req => decode(bytes) as Req,
    responseSerialize: (message: Res): Buffer => encode(message),
    responseDeserialize: (bytes: Buffer): Res => decode(bytes) as Res,
  };
}

function shape<S extends boolean>(responseStream: S) {
  return { requestStream: false as const, responseStream };
}
