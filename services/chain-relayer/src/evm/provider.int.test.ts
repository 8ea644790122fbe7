// Receipts of a node that answers in full, over HTTP: that of a full batch is some 350 KB.
import { once } from "node:events";
import { createServer, type IncomingMessage } from "node:http";
import { type AddressInfo } from "node:net";
import { testLog, testRegistry } from "@wonrail/kit/testing";
import { connectChain } from "./connectChain";

interface Call {
  id: number;
  method: string;
  params: string[];
}

const LOGS = "0".repeat(350_000);

let logs = LOGS;
/** The node's refusal of a batch of this size; null where it answers. */
let refuse: (calls: Call[]) => unknown = () => null;
/** How many receipts each request was for. */
let asked: number[] = [];

const server = createServer((request, response) => {
  void (async () => {
    const body = JSON.parse(await textOf(request)) as Call | Call[];
    const calls = [body].flat();
    const isChainId = calls[0]!.method === "eth_chainId";
    if (!isChainId) asked.push(calls.length);
    const answers = calls.map(({ id, params }) => ({
      id,
      result: isChainId ? "0x7a69" : receiptOf(params[0]!),
    }));
    const refusal = isChainId ? null : refuse(calls);
    response.end(JSON.stringify(refusal ?? (Array.isArray(body) ? answers : answers[0])));
  })();
});

beforeAll(async () => {
  server.listen(0, "127.0.0.1");
  await once(server, "listening");
});
beforeEach(() => {
  [logs, asked, refuse] = [LOGS, [], () => null];
});
afterAll(() => {
  server.closeAllConnections();
  server.close();
});

const HASHES = Array.from({ length: 100 }, (_, number) => `0x${number.toString(16)}`);

test("a hundred receipts of full batches are matched to their hashes", async () => {
  const receipts = await open().receipts(HASHES);
  expect([...receipts.keys()]).toEqual(HASHES);
  expect([...receipts.values()].map(({ blockNumber }) => blockNumber)).toEqual(HASHES.map(BigInt));
});

test("answers in any order are matched by id, and a missing answer fails the batch", async () => {
  const answer = ({ id, params }: Call) => ({ id, result: receiptOf(params[0]!) });
  refuse = (calls) => calls.map(answer).reverse();
  const receipts = await open().receipts(HASHES.slice(0, 8));
  expect([...receipts.values()].map(({ blockNumber }) => blockNumber)).toEqual(
    HASHES.slice(0, 8).map(BigInt),
  );
  refuse = (calls) => calls.slice(1).map(answer);
  await expect(open().receipts(HASHES.slice(0, 8))).rejects.toThrow("left a call unanswered");
});

test("receipts that exceed the answer limit are requested in halves", async () => {
  logs = LOGS.repeat(12);
  expect((await open().receipts(HASHES.slice(0, 8))).size).toBe(8);
  expect(asked).toEqual([8, 4, 2, 2, 4, 2, 2]);
});

test.each<[string, (calls: Call[]) => unknown]>([
  [
    "answers until it has said enough (geth)",
    (calls) =>
      calls.map(({ id, params }, index) =>
        index < 4
          ? { id, result: receiptOf(params[0]!) }
          : { id, error: { code: -32003, message: "response too large" } },
      ),
  ],
  [
    "refuses the batch as a whole (reth)",
    () => ({ id: null, error: { code: -32011, message: "The batch response was too large" } }),
  ],
  [
    "takes no batch so large (besu)",
    () => ({ id: null, error: { code: -32005, message: "Number of requests in batch exceeds limit" } }),
  ],
])("receipts are requested in halves from a node that %s", async (_, refusal) => {
  logs = "";
  refuse = (calls) => (calls.length > 4 ? refusal(calls) : null);
  expect((await open().receipts(HASHES.slice(0, 8))).size).toBe(8);
  expect(asked).toEqual([8, 4, 4]);
});

test("a single receipt that exceeds the limit fails without further splitting", async () => {
  refuse = () => ({ id: null, error: { code: -32011, message: "The batch response was too large" } });
  await expect(open().receipts(HASHES.slice(0, 2))).rejects.toThrow("too large");
  expect(asked.slice(0, 2)).toEqual([2, 1]);
});

function open() {
  const { port } = server.address() as AddressInfo;
  return connectChain({
    ...{ urls: [`http://127.0.0.1:${port}`], timeoutMs: 30_000, chainId: 31_337n, finality: 64 },
    ...{ log: testLog(), registry: testRegistry() },
  });
}

function receiptOf(txHash: string) {
  return { blockNumber: txHash, blockHash: "0xb", gasUsed: "0x1", status: "0x1", logs };
}

async function textOf(request: IncomingMessage): Promise<string> {
  const chunks: Buffer[] = [];
  for await (const chunk of request) chunks.push(chunk as Buffer);
  return Buffer.concat(chunks).toString("utf8");
}
