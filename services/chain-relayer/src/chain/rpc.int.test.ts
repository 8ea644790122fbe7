import { once } from "node:events";
import { createServer } from "node:http";
import { type AddressInfo } from "node:net";
import { DURATION_BUCKETS_SECONDS, Histogram } from "@wonrail/kit/metrics";
import { openRpc, RpcSilent, RpcUnclear } from "./rpc";

const server = createServer((request, response) => {
  if (request.url === "/half") response.writeHead(200).write("{");
  if (request.url === "/busy") response.writeHead(503).end();
});

beforeAll(async () => {
  server.listen(0, "127.0.0.1");
  await once(server, "listening");
});
afterAll(() => {
  server.closeAllConnections();
  server.close();
});

test.each([
  ["takes the question and says nothing", "/", true],
  ["does not come to the end of its answer", "/half", true],
  ["answers that it is busy", "/busy", false],
])("a node that %s", async (_, path, isSilent) => {
  const { port } = server.address() as AddressInfo;
  const duration = new Histogram({
    ...{ name: "duration", help: "How long an answer took", labelNames: ["method"] as const },
    ...{ buckets: DURATION_BUCKETS_SECONDS, registers: [] },
  });
  const url = `http://127.0.0.1:${port}${path}`;
  const rpc = openRpc({ url, timeoutMs: isSilent ? 50 : 5_000, maxResponseBytes: 1_000, duration });
  const error = await rpc.call("eth_chainId", []).catch((reason: unknown) => reason);
  expect(error).toBeInstanceOf(RpcUnclear);
  expect(error instanceof RpcSilent).toBe(isSilent);
});
