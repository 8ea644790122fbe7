import { createServer } from "node:http";
import { type AddressInfo } from "node:net";
import { eventually } from "@wonrail/kit/testing";

export interface ReceivedRequest {
  headers: Record<string, string>;
  body: string;
}

type Answer = (request: ReceivedRequest) => number | undefined;
export type Receiver = Awaited<ReturnType<typeof startReceiver>>;

/** An endpoint of a partner. Its answer is a status, or undefined for none at all. */
export async function startReceiver(answer: Answer = () => 204) {
  let answerNow = answer;
  let resets = 0;
  const path = () => `/hook/${resets}`;
  const requests: ReceivedRequest[] = [];
  const server = createServer((request, response) => {
    let body = "";
    request.setEncoding("utf8").on("data", (chunk: string) => (body += chunk));
    request.on("end", () => {
      if (request.url !== path()) return void response.writeHead(204).end();
      const received = { headers: request.headers as Record<string, string>, body };
      requests.push(received);
      const status = answerNow(received);
      if (status !== undefined) response.writeHead(status).end();
    });
  });
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  return {
    get url(): string {
      return `http://127.0.0.1:${(server.address() as AddressInfo).port}${path()}`;
    },
    requests,
    answer: (next: Answer) => void (answerNow = next),
    /** Forgets all requests and takes a new URL. Later attempts at the old one do not count. */
    reset(): void {
      resets += 1;
      requests.length = 0;
      answerNow = answer;
    },
    /** Waits until so many requests have come. */
    async received(count: number): Promise<ReceivedRequest[]> {
      return eventually(() => {
        if (requests.length < count) throw new Error(`${requests.length} of ${count} requests have come`);
        return requests;
      });
    },
    async close(): Promise<void> {
      server.closeAllConnections();
      await new Promise((resolve) => server.close(resolve));
    },
  };
}
