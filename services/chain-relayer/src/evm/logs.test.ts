import { id } from "ethers";
import { TOPICS } from "./contracts";
import { type LogFilter, logsFrom } from "./logs";
import { type Rpc, RpcMissingBlock, RpcRefusal, RpcUnanswered } from "./rpc";

const TOKEN = `0x${"3".repeat(40)}`;
const BLOCK = `0x${"b".repeat(64)}`;
const APPROVAL = id("Approval(address,address,uint256)");
const FILTER: LogFilter = {
  ...{ addresses: [TOKEN.toUpperCase().replace("0X", "0x")], topics: [[TOPICS.transfer, TOPICS.used]] },
  ...{ fromBlock: 100n, to: { number: 100n, hash: BLOCK } },
};

interface Said {
  address: string;
  topic: string;
}

/** A node with a limit of logs per answer, and one block whose transactions have these logs. */
function nodeWith(said: Said[][], of: Partial<Record<"most" | "mostReceipts", number>> = {}) {
  const { most = 3, mostReceipts = 0 } = of;
  const hashes = said.map((_, number) => id(`transaction ${number}`));
  let logIndex = 0;
  const receipts = said.map((logs, number) => ({
    ...{
      transactionHash: hashes[number]!,
      blockHash: BLOCK,
      blockNumber: "0x64",
      gasUsed: "0x1",
      status: "0x1",
    },
    logs: logs.map(({ address, topic }) => ({
      ...{ address, topics: [topic], data: "0x", blockNumber: "0x64", blockHash: BLOCK },
      ...{ transactionHash: hashes[number]!, logIndex: `0x${(logIndex++).toString(16)}` },
    })),
  }));
  const tooMuch = () => new RpcRefusal(-32005, "query returned more than 3 results");
  const asked: string[] = [];
  const answers: Record<string, (params: unknown[]) => unknown> = {
    eth_chainId: () => "0x7a69",
    eth_getBlockByNumber: () => ({ hash: BLOCK, transactions: hashes }),
    eth_getLogs: () => {
      const all = receipts.flatMap(({ logs }) => logs);
      const wanted = all.filter(({ address, topics }) => address === TOKEN && topics[0] !== APPROVAL);
      if (wanted.length > most) throw tooMuch();
      return wanted;
    },
    eth_getBlockReceipts: () => {
      if (mostReceipts < said.length) throw new RpcRefusal(-32601, "the method does not exist");
      return receipts;
    },
    eth_getTransactionReceipt: ([hash]) => receipts.find(({ transactionHash }) => transactionHash === hash),
  };
  const rpc: Rpc = {
    name: "node",
    async call<T>(method: string, params: unknown[]) {
      asked.push(method);
      return answers[method]!(params) as T;
    },
    batch: <T>(calls: { method: string; params: unknown[] }[]) =>
      Promise.all(calls.map(({ method, params }) => rpc.call<T>(method, params))),
  };
  return { rpc, answers, asked, receipts };
}

const transfers = (count: number): Said[] => Array(count).fill({ address: TOKEN, topic: TOPICS.transfer });
const CROWD = [
  transfers(2),
  [],
  [
    { address: TOKEN, topic: APPROVAL },
    ...transfers(1),
    { address: BLOCK.slice(0, 42), topic: TOPICS.transfer },
  ],
  [{ address: TOKEN, topic: TOPICS.used }, ...transfers(40)],
];

test.each([
  ["all its receipts at once", CROWD.length, 0],
  ["single receipts, where the node gives no list", 0, CROWD.length],
])("a block with more logs than the node's limit is read from %s", async (_, mostReceipts, single) => {
  const { rpc, asked } = nodeWith(CROWD, { mostReceipts });
  const read = await logsFrom(rpc, FILTER, 31_337n);
  const { rpc: generous } = nodeWith(CROWD, { most: 100 });
  expect(read).toHaveLength(44);
  expect(read).toEqual(await logsFrom(generous, FILTER, 31_337n));
  expect(asked.filter((method) => method === "eth_getTransactionReceipt")).toHaveLength(single);
});

test("a block's logs are read from receipts when the node is too slow or full, and not when it is behind", async () => {
  const { rpc, answers, asked } = nodeWith(CROWD, { mostReceipts: 4 });
  answers.eth_getLogs = () => Promise.reject(new RpcUnanswered("answered HTTP 413"));
  expect(await logsFrom(rpc, FILTER, 31_337n)).toHaveLength(44);
  asked.length = 0;
  answers.eth_getLogs = () => Promise.reject(new RpcMissingBlock("does not have it"));
  await expect(logsFrom(rpc, FILTER, 31_337n)).rejects.toThrow("does not have it");
  expect(asked).not.toContain("eth_getBlockReceipts");
});

test("several blocks whose logs exceed the limit are asked for in smaller ranges, never by receipts", async () => {
  const { rpc, asked } = nodeWith(CROWD, { mostReceipts: 4 });
  await expect(logsFrom(rpc, { ...FILTER, fromBlock: 99n }, 31_337n)).rejects.toThrow("more than 3");
  expect(asked).not.toContain("eth_getBlockReceipts");
});

test.each<[string, (node: ReturnType<typeof nodeWith>) => void, string]>([
  ["is on another chain by now", ({ answers }) => void (answers.eth_chainId = () => "0x1"), "another chain"],
  [
    "has another block there",
    ({ answers }) => void (answers.eth_getBlockByNumber = () => ({ hash: id("other"), transactions: [] })),
    "does not have block 100",
  ],
  [
    "gives receipts of another block",
    ({ receipts }) => void (receipts[1]!.blockHash = id("other")),
    "does not have the receipts",
  ],
  [
    "gives the receipts of other transactions",
    ({ receipts }) => void receipts.reverse(),
    "does not have the receipts",
  ],
  [
    "has lost a receipt",
    ({ receipts, answers }) => {
      receipts.splice(1, 1);
      answers.eth_getTransactionReceipt = () => null;
    },
    "does not have the receipts",
  ],
])("receipts are refused from a node that %s", async (_, lie, reason) => {
  const node = nodeWith(CROWD, { mostReceipts: 4 });
  lie(node);
  await expect(logsFrom(node.rpc, FILTER, 31_337n)).rejects.toThrow(reason);
});
