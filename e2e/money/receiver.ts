import { createServer } from "node:http";
import { type AddressInfo } from "node:net";
import { eventually } from "@wonrail/kit/testing";

interface Delivery {
  headers: Record<string, string>;
  body: string;
}

/** A partner's endpoint, which takes every delivery and answers with this text. */
export async function startReceiver(answer?: string) {
  const deliveries: Delivery[] = [];
  const server = createServer((request, response) => {
    let body = "";
    request.setEncoding("utf8").on("data", (chunk: string) => (body += chunk));
    request.on("end", () => {
      deliveries.push({ headers: request.headers as Record<string, string>, body });
      response.writeHead(answer === undefined ? 204 : 200).end(answer);
    });
  });
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  return {
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}/hook`,
    /** In the order of their arrival. */
    deliveries,
    until: (isWanted: (delivery: Delivery) => boolean): Promise<Delivery> =>
      eventually(
        () => {
          const found = deliveries.find(isWanted);
          if (!found) throw new Error(`${deliveries.length} deliveries have come, the wanted one has not`);
          return found;
        },
        { timeoutMs: 90_000 },
      ),
    async close(): Promise<void> {
      server.closeAllConnections();
      await new Promise((resolve) => server.close(resolve));
    },
  };
}
