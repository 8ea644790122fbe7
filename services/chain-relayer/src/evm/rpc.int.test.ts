import { once } from "node:events";
import { createServer } from "node:http";
import { type AddressInfo } from "node:net";
import { DURATION_BUCKETS_SECONDS, Histogram } from "@wonrail/kit/metrics";
import { receiptsFrom } from "./receipts";
import { openRpc, RpcTimeout, RpcUnanswered } from "./rpc";

const server = createServer((request, response) => {
  if (request.url === "/half") response.writeHead(200).write("{");
  if (request.url === "/busy") response.writeHead(503).end();
  if (request.url === "/html") response.end("<html>");
  if (request.url === "/large") response.end("x".repeat(1_001));
  if (request.url === "/who") {
    const result = request.headers.authorization ?? "nobody";
    response.end(JSON.stringify({ jsonrpc: "2.0", id: 1, result }));
  }
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
  const rpc = open(urlOf(path), isSilent ? 50 : 5_000);
  const error = await rpc.call("eth_chainId", []).catch((reason: unknown) => reason);
  expect(error).toBeInstanceOf(RpcUnanswered);
  expect(error instanceof RpcTimeout).toBe(isSilent);
});

test.each([
  ["user:pass%40w%C3%B6rd", "user:pass@wörd"],
  ["user:100%", "user:100%"],
  ["user", "user:"],
  [":key", ":key"],
])("a node receives the credentials %s in a header", async (credential, expected) => {
  const answer = await open(urlOf("/who", `${credential}@`)).call("eth_chainId", []);
  expect(answer).toBe(`Basic ${Buffer.from(expected).toString("base64")}`);
  expect(await open(urlOf("/who")).call("eth_chainId", [])).toBe("nobody");
});

test("a failed connection is reported without its password", async () => {
  const unused = createServer().listen(0, "127.0.0.1");
  await once(unused, "listening");
  const { port } = unused.address() as AddressInfo;
  unused.close();
  await once(unused, "close");
  const host = `127.0.0.1:${port}`;
  await expect(open(`http://user:secret@${host}`).call("eth_chainId", [])).rejects.toThrow(
    `${host} gave no answer: ECONNREFUSED`,
  );
  await expect(open(urlOf("/html")).call("eth_chainId", [])).rejects.toThrow("no answer that can be read");
});

test("an oversized answer is refused with the endpoint's name and the receipt's hash", async () => {
  const large = open(urlOf("/large"));
  const message = `${large.name} answered with more than the 1000 bytes that are accepted`;
  await expect(large.call("eth_getLogs", [])).rejects.toThrow(new RpcUnanswered(message));
  await expect(receiptsFrom(large, ["0xa", "0xb"], () => null)).rejects.toThrow(
    new RpcUnanswered(`${message}: the receipt of 0xa`),
  );
});

function urlOf(path: string, credential = ""): string {
  const { port } = server.address() as AddressInfo;
  return `http://${credential}127.0.0.1:${port}${path}`;
}

function open(url: string, timeoutMs = 5_000) {
  const duration = new Histogram({
    ...{ name: "duration", help: "How long an answer took", labelNames: ["method"] as const },
    ...{ buckets: DURATION_BUCKETS_SECONDS, registers: [] },
  });
  return openRpc({ url, timeoutMs, maxResponseBytes: 1_000, duration });
}
