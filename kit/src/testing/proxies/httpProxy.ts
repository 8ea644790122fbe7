import { createServer, type IncomingHttpHeaders, type IncomingMessage, type ServerResponse } from "node:http";
import { type AddressInfo } from "node:net";

export interface ProxiedRequest {
  headers: IncomingHttpHeaders;
  body: string;
  /** Asks the target, with this body instead of the client's when one is given. */
  forward: (body?: string) => Promise<HttpAnswer>;
}

export interface HttpAnswer {
  status: number;
  headers: Record<string, string>;
  body: string;
}

/** The answer to the client, a broken connection, or no answer at all. */
export type HttpReaction = HttpAnswer | "drop" | "silence";

export interface HttpProxy {
  url: string;
  /** As logs and metrics name it. */
  host: string;
  close(): Promise<void>;
}

/** Headers of one connection, or of a body that `fetch` has decoded. */
const OWN_HEADERS = [
  ...["connection", "content-encoding", "content-length", "expect", "host", "keep-alive"],
  ...["transfer-encoding", "upgrade"],
];

/** An HTTP endpoint before another one, in which a test changes, loses or counts the answers. */
export async function startHttpProxy(
  target: string,
  react: (request: ProxiedRequest) => Promise<HttpReaction>,
): Promise<HttpProxy> {
  const server = createServer((request, response) => {
    void readRequest(target, request)
      .then(react)
      .then((reaction) => send(response, reaction))
      .catch(() => response.destroy());
  });
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  const host = `127.0.0.1:${(server.address() as AddressInfo).port}`;
  return {
    url: `http://${host}`,
    host,
    close: () =>
      new Promise((resolve) => {
        server.closeAllConnections();
        server.close(() => resolve());
      }),
  };
}

async function readRequest(target: string, request: IncomingMessage): Promise<ProxiedRequest> {
  const chunks: Buffer[] = [];
  for await (const chunk of request) chunks.push(chunk as Buffer);
  const body = Buffer.concat(chunks).toString("utf8");
  const { method = "GET", url = "/", headers } = request;
  return {
    headers,
    body,
    async forward(changed = body) {
      const response = await fetch(new URL(url, target), {
        method,
        headers: withoutOwn(Object.entries(headers) as [string, string][]),
        ...(changed === "" ? {} : { body: changed }),
      });
      return {
        status: response.status,
        headers: withoutOwn([...response.headers]),
        body: await response.text(),
      };
    },
  };
}

function withoutOwn(headers: [string, string][]): Record<string, string> {
  return Object.fromEntries(headers.filter(([name]) => !OWN_HEADERS.includes(name)));
}

function send(response: ServerResponse, reaction: HttpReaction): void {
  if (reaction === "drop") response.destroy();
  else if (reaction !== "silence") response.writeHead(reaction.status, reaction.headers).end(reaction.body);
}
