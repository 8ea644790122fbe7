import { Agent, request } from "node:http";

/** As many connections as there are callers, kept open. Node's own client, which costs less than half of what fetch does. */
export function openHttp(baseUrl: string, headers: Record<string, string>, connections: number) {
  const agent = new Agent({ keepAlive: true, maxSockets: connections });
  const { hostname, port } = new URL(baseUrl);
  return {
    /** The status of the answer, which is read to its end. */
    send(method: string, path: string, body: object, more: Record<string, string> = {}): Promise<number> {
      const payload = JSON.stringify(body);
      const length = Buffer.byteLength(payload);
      const all = { ...headers, ...more, "content-type": "application/json", "content-length": length };
      return new Promise((resolve, reject) => {
        const call = request({ agent, hostname, port, method, path, headers: all }, (response) => {
          response.resume();
          response.on("end", () => resolve(response.statusCode!));
        });
        call.setTimeout(30_000, () => call.destroy(new Error("no answer within 30 s")));
        call.on("error", reject);
        call.end(payload);
      });
    },
    close: () => agent.destroy(),
  };
}

export type Http = ReturnType<typeof openHttp>;
