import { createServer, type IncomingMessage, type ServerResponse } from "node:http";
import { type AddressInfo } from "node:net";
import { performance } from "node:perf_hooks";

// A process of its own, so that the receiver takes no time of the service's event loop.

/** A delivery that came: `endpoint` is the last part of the path. */
export interface Arrival {
  endpoint: number;
  objectId: string;
  /** On the clock that all processes of this machine share. */
  atMs: number;
}

export type Command = "take" | { hangEvery: number };
export type Report = { url: string } | { arrivals: Arrival[] };

let arrivals: Arrival[] = [];
/** Every so many endpoints one never answers; 0: all answer. */
let hangEvery = 0;

function receive(request: IncomingMessage, response: ServerResponse): void {
  const endpoint = Number(request.url!.slice(request.url!.lastIndexOf("/") + 1));
  const atMs = performance.timeOrigin + performance.now();
  const chunks: Buffer[] = [];
  request.on("data", (chunk: Buffer) => chunks.push(chunk));
  request.on("end", () => {
    const body = Buffer.concat(chunks).toString();
    const { objectId } = JSON.parse(body) as { objectId: string };
    arrivals.push({ endpoint, objectId, atMs });
    if (hangEvery > 0 && endpoint % hangEvery === 0) return;
    response.writeHead(204).end();
  });
}

const server = createServer(receive).listen(0, "127.0.0.1", () => {
  report({ url: `http://127.0.0.1:${(server.address() as AddressInfo).port}` });
});

process.on("message", (command: Command) => {
  if (command !== "take") hangEvery = command.hangEvery;
  const taken = arrivals;
  arrivals = [];
  report({ arrivals: taken });
});
process.on("disconnect", () => process.exit());

function report(message: Report): void {
  process.send!(message);
}
