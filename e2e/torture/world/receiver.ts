import { createServer, type IncomingMessage, type ServerResponse } from "node:http";
import { type AddressInfo } from "node:net";
import { setTimeout as sleep } from "node:timers/promises";
import { ServiceClient } from "@wonrail/sdk";
import { type HistoryWriter } from "../historyWriter";

export type ReceiverMode = "up" | "refusing" | "hanging" | "broken";

/** The partners' endpoints. Each webhook has a path of its own. */
export interface Receiver {
  /** The URL for a new webhook of the organisation. */
  newUrl(organisation: string): string;
  /** Tells the secret of the webhook with this URL. Earlier deliveries get an error and come again. */
  register(url: string, webhookId: string, secret: string): void;
  setMode(mode: ReceiverMode): void;
  /** Deliveries with a signature that the SDK refused. */
  forged: string[];
  close(): Promise<void>;
}

interface Endpoint {
  organisation: string;
  webhookId?: string;
  secret?: string;
}

const MAX_HANG_MS = 30_000;

export async function startReceiver(history: HistoryWriter): Promise<Receiver> {
  const endpoints = new Map<string, Endpoint>();
  const forged: string[] = [];
  // Only `unwrap` is used, which sends nothing.
  const sdk = new ServiceClient({ baseUrl: "http://127.0.0.1:1", apiKey: "none" });
  let mode: ReceiverMode = "up";

  async function take(request: IncomingMessage): Promise<number> {
    const body = await readBody(request);
    const endpoint = endpoints.get(request.url ?? "");
    if (mode === "refusing" || endpoint?.secret === undefined) return 503;
    if (mode === "hanging") await sleep(MAX_HANG_MS, undefined, { ref: false });
    const { organisation, webhookId, secret } = endpoint as Required<Endpoint>;
    try {
      const event = await sdk.webhooks.unwrap(body, request.headers, secret);
      history.write({ kind: "delivery", organisation, webhookId, eventId: event.eventId, body: event });
      return 204;
    } catch (error) {
      forged.push(`${webhookId}: ${String(error)}`);
      return 400;
    }
  }

  const server = createServer((request, response) => {
    if (mode === "broken") request.socket.destroy();
    else void take(request).then(answerWith(response), () => response.destroy());
  });
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  const { port } = server.address() as AddressInfo;
  return {
    newUrl(organisation) {
      const path = `/${organisation}/${endpoints.size + 1}`;
      endpoints.set(path, { organisation });
      return `http://127.0.0.1:${port}${path}`;
    },
    register(url, webhookId, secret) {
      Object.assign(endpoints.get(new URL(url).pathname)!, { webhookId, secret });
    },
    setMode(next) {
      mode = next;
    },
    forged,
    close: () =>
      new Promise((resolve) => {
        server.closeAllConnections();
        server.close(() => resolve());
      }),
  };
}

function answerWith(response: ServerResponse): (status: number) => void {
  return (status) => void response.writeHead(status).end();
}

async function readBody(request: IncomingMessage): Promise<string> {
  const chunks: Buffer[] = [];
  for await (const chunk of request) chunks.push(chunk as Buffer);
  return Buffer.concat(chunks).toString("utf8");
}
