import { Counter, Gauge } from "@wonrail/kit/metrics";
import { testLog, testRegistry } from "@wonrail/kit/testing";
import { createEndpoints, medianOf, highestReachedBy, findValueSharedBy } from "./endpoints";
import { createProvider, type Provider } from "./provider";
import { type Rpc, RpcMissingBlock, RpcRefusal, RpcTimeout, RpcUnanswered } from "./rpc";
import { sendOutcomeOf } from "./sendOutcome";

type Answers = Record<string, unknown>;

const CHAIN_ID = 31_337n;
const BLOCK = {
  number: "0x64",
  hash: `0x${"aa".repeat(32)}`,
  parentHash: `0x${"bb".repeat(32)}`,
  timestamp: "0x65000000",
  baseFeePerGas: "0x3b9aca00",
  gasLimit: "0x3938700",
};
const BLOCK_ELSEWHERE = { ...BLOCK, hash: `0x${"cc".repeat(32)}` };
const HONEST: Answers = {
  eth_chainId: "0x7a69",
  eth_getTransactionCount: "0x5",
  eth_getBalance: "0xde0b6b3a7640000",
  eth_maxPriorityFeePerGas: "0x1",
  eth_getBlockByNumber: BLOCK,
  eth_getTransactionReceipt: { blockNumber: "0x64", blockHash: BLOCK.hash, gasUsed: "0x5208", status: "0x1" },
  eth_call: "0x07",
};

/** Answers by method; a missing answer is silence. */
function endpoint(name: string, answers: Answers = {}, asked: string[] = []): Rpc {
  const all: Answers = { ...HONEST, ...answers };
  const call = async <T>(method: string) => {
    asked.push(`${name} ${method}`);
    if (all[method] === undefined) throw new RpcUnanswered(`${name} is silent`);
    return all[method] as T;
  };
  return {
    name,
    call,
    batch: <T>(calls: { method: string }[]) => Promise.all(calls.map((one) => call<T>(one.method))),
  };
}

function open(...rpcs: Rpc[]) {
  const registers = [testRegistry()];
  const disagreements = new Counter({
    name: "disagreements",
    help: "Endpoints with a rejected answer",
    labelNames: ["provider"],
    registers,
  });
  const up = new Gauge({ name: "up", help: "Who answers", labelNames: ["provider"], registers });
  const options = { rpcs, chainId: CHAIN_ID, log: testLog(), disagreements, up };
  let nowMs = 0;
  return {
    endpoints: createEndpoints({ ...options, monotonicMs: () => nowMs }),
    provider: createProvider({ ...options, finality: "finalized" }),
    providerWith: (finality: number) => createProvider({ ...options, finality }),
    later: (ms: number) => void (nowMs += ms),
    reported: async () =>
      (await disagreements.get()).values.map(({ labels, value }) => [labels.provider, value]),
    up: async () =>
      Object.fromEntries((await up.get()).values.map(({ labels, value }) => [labels.provider, value])),
  };
}

test.each<[string, Answers]>([
  ["the signer's nonce far ahead", { eth_getTransactionCount: "0xffffff" }],
  ["the signer's nonce at its beginning", { eth_getTransactionCount: "0x0" }],
  ["a signer without gas", { eth_getBalance: "0x0" }],
  ["a tip that nobody would pay", { eth_maxPriorityFeePerGas: "0xffffffffffff" }],
  ["a base fee above every cap", { eth_getBlockByNumber: { ...BLOCK, baseFeePerGas: "0xffffffffffff" } }],
  ["blocks without room", { eth_getBlockByNumber: { ...BLOCK, gasLimit: "0x1" } }],
  ["a time in the next century", { eth_getBlockByNumber: { ...BLOCK, timestamp: "0xffffffff" } }],
  ["a head that is not there", { eth_getBlockByNumber: { ...BLOCK, number: "0xffffff" } }],
  ["no receipt of anything", { eth_getTransactionReceipt: null }],
  [
    "a transaction that failed",
    { eth_getTransactionReceipt: { ...(HONEST.eth_getTransactionReceipt as object), status: "0x0" } },
  ],
  ["numbers that are none", { eth_getTransactionCount: "many", eth_getBalance: null }],
])("a first endpoint of three that answers %s changes no result", async (_, lie) => {
  const truth = await everything(open(endpoint("a")));
  expect(await everything(open(endpoint("liar", lie), endpoint("a"), endpoint("b")))).toEqual(truth);
});

test("a majority decides the balances at a final block, and the outvoted endpoint is reported", async () => {
  const { provider, reported } = open(endpoint("liar", { eth_call: "0x08" }), endpoint("a"), endpoint("b"));
  expect(await provider.callManyAt("0x", ["0x", "0x"], 1n)).toEqual(["0x07", "0x07"]);
  expect(await reported()).toEqual([["liar", 1]]);
});

test("a final fact is refused when the only two endpoints disagree", async () => {
  const { provider } = open(endpoint("liar", { eth_call: "0x08" }), endpoint("a"));
  await expect(provider.callAt("0x", "0x", 1n)).rejects.toThrow("disagree");
});

test("an endpoint that stands still delays no answer and is reported", async () => {
  const old = { ...BLOCK, number: "0x1" };
  const { provider, reported } = open(
    endpoint("still", { eth_getBlockByNumber: old }),
    endpoint("a"),
    endpoint("b"),
  );
  expect((await provider.finalBlock())?.number).toBe(100n);
  expect(await reported()).toContainEqual(["still", expect.any(Number)]);
});

test("a block is final under the configured number of blocks, and none is before there are so many", async () => {
  const asked: unknown[] = [];
  const node = endpoint("a", { eth_blockNumber: BLOCK.number });
  const call = <T>(method: string, params: unknown[]) => {
    if (method === "eth_getBlockByNumber") asked.push(params[0]);
    return node.call<T>(method, params);
  };
  const { providerWith } = open({ ...node, call });
  await providerWith(64).finalBlock();
  await providerWith(100).finalBlock();
  expect(asked).toEqual(["0x24", "0x0"]);
  expect(await providerWith(101).finalBlock()).toBeNull();
});

test.each<[string, Answers, string]>([
  ["has another block where the last one should be", { eth_getBlockByNumber: BLOCK_ELSEWHERE }, "block 100"],
  ["does not have the last block", { eth_getBlockByNumber: null }, "block 100"],
  ["is on another chain by now", { eth_chainId: "0x1" }, "on another chain"],
])("logs are refused from a node that %s", async (_, answers, reason) => {
  const { provider } = open({
    ...endpoint("a"),
    batch: endpoint("a", { eth_getLogs: [], ...answers }).batch,
  });
  const logs = provider.logs({ addresses: [], fromBlock: 1n, to: { number: 100n, hash: BLOCK.hash } });
  await expect(logs).rejects.toThrow(reason);
});

test("a nonce is refused from an endpoint that moved to another chain, which is reported", async () => {
  const moved = {
    ...endpoint("moved"),
    batch: endpoint("moved", { eth_chainId: "0x1", eth_getTransactionCount: "0x9" }).batch,
  };
  await expect(open(moved).provider.nonce("0x", "latest")).rejects.toThrow("moved is on another chain");
  const { provider, reported } = open(moved, endpoint("a"), endpoint("b"));
  expect(await provider.nonce("0x", 1n)).toBe(5n);
  expect(await reported()).toEqual([["moved", 1]]);
});

test("a failed question reports the refusal in preference to an endpoint that is behind", async () => {
  const behind = endpoint("behind");
  const tooWide = endpoint("narrow");
  const { endpoints } = open(behind, tooWide);
  const ask = (rpc: Rpc) =>
    Promise.reject(
      rpc === behind ? new RpcMissingBlock("does not have it") : new RpcRefusal(-32005, "too wide"),
    );
  await expect(endpoints.agreed("logs", ask)).rejects.toThrow("too wide");
  const alone = open(behind).endpoints;
  await expect(alone.agreed("logs", ask)).rejects.toThrow("does not have it");
});

test.each<[string, Ask]>([
  ["logs", (provider) => provider.logs(LOGS)],
  ["a block", (provider) => provider.block(100n)],
  ["the final block", (provider) => provider.finalBlock()],
  ["a receipt", (provider) => provider.receipts(["0x"])],
  ["a call at a block", (provider) => provider.callAt("0x", "0x", 1n)],
  ["a nonce at a block", (provider) => provider.nonce("0x", 1n)],
])("a silent endpoint of two leaves no quorum for %s", async (_, ask) => {
  const { provider } = open(endpoint("silent", SILENCE), endpoint("liar", { eth_getLogs: [] }));
  await expect(ask(provider)).rejects.toThrow("1 of the 2 needed endpoints answered");
});

test.each<[string, Ask]>([
  ["logs", (provider) => provider.logs(LOGS)],
  ["a call at a block", (provider) => provider.callAt("0x", "0x", 1n)],
])("two agreeing endpoints of three decide %s when the third is silent", async (_, ask) => {
  const honest = { eth_getLogs: [] };
  const { provider } = open(endpoint("silent", SILENCE), endpoint("a", honest), endpoint("b", honest));
  await expect(ask(provider)).resolves.toBeDefined();
});

test("one lying and one silent endpoint of three leave no quorum", async () => {
  const { provider } = open(
    endpoint("liar", { eth_call: "0x08" }),
    endpoint("silent", SILENCE),
    endpoint("a"),
  );
  await expect(provider.callAt("0x", "0x", 1n)).rejects.toThrow("disagree");
});

test("a revert counts only when a quorum reports it", async () => {
  const { endpoints } = open(endpoint("a"), endpoint("silent", SILENCE));
  const ask = (rpc: Rpc) =>
    rpc.name === "a" ? Promise.reject(new RpcRefusal(3, "execution reverted")) : rpc.call("eth_call", []);
  await expect(endpoints.agreed("call", ask)).rejects.toThrow(RpcUnanswered);
  const both = open(endpoint("a"), endpoint("b")).endpoints;
  const reverted = () => Promise.reject(new RpcRefusal(3, "execution reverted"));
  await expect(both.agreed("call", reverted)).rejects.toThrow(RpcRefusal);
});

test("a resting endpoint is asked again when there is no quorum without it", async () => {
  const asked: string[] = [];
  const silent = outOfTime(asked);
  const { endpoints } = open(silent, endpoint("a"));
  await endpoints.all(balance);
  silent.isBack = true;
  expect(await endpoints.agreed("balance", balance)).toBe(HONEST.eth_getBalance);
});

test("a silent endpoint is not asked again during its rest", async () => {
  const asked: string[] = [];
  const { endpoints, later } = open(endpoint("silent", { eth_getBalance: undefined }, asked), endpoint("a"));
  const ask = (rpc: Rpc) => rpc.call<string>("eth_getBalance", []);
  for (let times = 0; times < 3; times += 1) expect(await endpoints.all(ask)).toHaveLength(1);
  expect(asked.filter((one) => one.endsWith("eth_getBalance"))).toHaveLength(3);
  later(10_000);
  await endpoints.all(ask);
  expect(asked.filter((one) => one.endsWith("eth_getBalance"))).toHaveLength(6);
});

test("the availability gauge follows each endpoint from the start, also where it is the only one", async () => {
  let isAway = true;
  const call = <T>(method: string) =>
    isAway ? Promise.reject(new RpcUnanswered("away")) : endpoint("b").call<T>(method, []);
  const { endpoints, up } = open(endpoint("a"), { ...endpoint("b"), call });
  await endpoints.checkChain();
  expect(await up()).toEqual({ a: 1, b: 0 });
  isAway = false;
  await endpoints.all(balance);
  expect(await up()).toEqual({ a: 1, b: 1 });
  isAway = true;
  await endpoints.all(balance);
  expect(await up()).toEqual({ a: 1, b: 0 });

  const alone = open({ ...endpoint("b"), call });
  await expect(alone.endpoints.all(balance)).rejects.toThrow("away");
  expect(await alone.up()).toEqual({ b: 0 });
});

test("an endpoint's rest ignores a clock that is set back", async () => {
  const asked: string[] = [];
  const { provider } = open(outOfTime(asked), endpoint("a"));
  await provider.balance("0x");
  const [startMs, wallMs] = [performance.now(), Date.now()];
  const clocks = [
    jest.spyOn(performance, "now").mockReturnValue(startMs + 10_000),
    jest.spyOn(Date, "now").mockReturnValue(wallMs - 3_600_000),
  ];
  await provider.balance("0x").finally(() => clocks.forEach((clock) => clock.mockRestore()));
  expect(asked).toHaveLength(2);
});

test("a silent endpoint is tried once beside others, and retried at once when it is alone", async () => {
  const asked: string[] = [];
  const silent = outOfTime(asked);
  await open(silent, endpoint("a")).endpoints.all(balance);
  expect(asked).toHaveLength(1);
  await expect(open(silent).endpoints.all(balance)).rejects.toThrow("no answer");
  expect(asked).toHaveLength(4);
});

test("a silent endpoint rests for 10 s, doubled up to 160 s, and for 10 s again after an answer", async () => {
  const asked: string[] = [];
  const silent = outOfTime(asked);
  const { endpoints, later } = open(silent, endpoint("a"));
  const restSeconds = async () => {
    // Concurrent questions see the same silence.
    await Promise.all([endpoints.all(balance), endpoints.all(balance)]);
    const before = asked.length;
    for (let seconds = 1; ; seconds += 1) {
      later(1_000);
      if (seconds % 10 === 0) await endpoints.all(balance);
      if (asked.length > before) return seconds;
    }
  };
  // The question that ends a rest is also the silence that starts the next one.
  expect([await restSeconds(), await restSeconds(), await restSeconds()]).toEqual([10, 20, 40]);
  expect([await restSeconds(), await restSeconds(), await restSeconds()]).toEqual([80, 160, 160]);

  later(160_000);
  silent.isBack = true;
  expect(await endpoints.all(balance)).toHaveLength(2);
  silent.isBack = false;
  expect(await restSeconds()).toBe(10);
});

test("a late answer from before the rest does not end the rest", async () => {
  const slow = endpoint("slow");
  const { endpoints } = open(slow, endpoint("a"));
  await endpoints.all(balance);
  let answer = (): void => undefined;
  const late = endpoints.all((rpc) =>
    rpc === slow ? new Promise((resolve) => (answer = () => resolve("0x1"))) : balance(rpc),
  );
  await endpoints.all((rpc) => (rpc === slow ? Promise.reject(new RpcTimeout("no answer")) : balance(rpc)));
  answer();
  expect(await late).toHaveLength(2);
  expect((await endpoints.all(balance)).map(({ name }) => name)).toEqual(["a"]);
});

test("an endpoint on another chain stops the start, and a later move is reported and ignored", async () => {
  const elsewhere = endpoint("elsewhere", { eth_chainId: "0x1" });
  await expect(open(elsewhere, endpoint("a")).endpoints.checkChain()).rejects.toThrow(
    "elsewhere is on chain 1, not 31337",
  );
  const { endpoints, reported } = open(elsewhere, endpoint("a"));
  expect((await endpoints.all((rpc) => rpc.call("eth_call", []))).map(({ name }) => name)).toEqual(["a"]);
  expect(await reported()).toEqual([["elsewhere", 1]]);
});

test("a silent endpoint does not stop the start while another answers", async () => {
  const silent = endpoint("silent", { eth_chainId: undefined });
  await open(silent, endpoint("a")).endpoints.checkChain();
  await expect(open(silent).endpoints.checkChain()).rejects.toThrow("silent");
});

test.each([
  "transaction underpriced",
  "replacement transaction underpriced",
  "oversized data",
  "nonce too low",
])('a first endpoint of three that refuses known bytes with "%s" changes no result', async (lie) => {
  const { provider } = open(
    refusing("liar", lie),
    refusing("a", "already known"),
    refusing("b", "already known"),
  );
  expect(await provider.send("0x").then(() => "sent", sendOutcomeOf)).toBe("known");
});

test("a single endpoint decides alone, and one acceptance of the bytes is enough", async () => {
  const only = open(refusing("only", "nonce too low")).provider.send("0x");
  expect(await only.then(() => "sent", sendOutcomeOf)).toBe("nonce_used");
  const takes = endpoint("takes", { eth_sendRawTransaction: "0xhash" });
  expect(await open(refusing("liar", "oversized data"), takes).provider.send("0x")).toBe("0xhash");
});

test("medianOf returns the number that more than half have reached", () => {
  expect([[5n], [9n, 5n], [9n, 5n, 1n], [9n, 5n, 5n, 1n]].map(medianOf)).toEqual([5n, 5n, 5n, 5n]);
});

test("highestReachedBy returns the number that a quorum has reached", () => {
  expect([highestReachedBy([9n, 5n], 2), highestReachedBy([9n, 5n, 1n], 2)]).toEqual([5n, 5n]);
});

test("findValueSharedBy returns a value that enough endpoints report", () => {
  expect([findValueSharedBy([1, 1, 2], 2), findValueSharedBy([1, 2], 2)]).toEqual([1, null]);
});

type Ask = (provider: Provider) => Promise<unknown>;

const LOGS = { addresses: [], fromBlock: 1n, to: { number: 100n, hash: BLOCK.hash } };
/** Answers only the chain id. */
const SILENCE: Answers = Object.fromEntries(
  [...Object.keys(HONEST), "eth_getLogs"]
    .filter((method) => method !== "eth_chainId")
    .map((method) => [method, undefined]),
);

const balance = (rpc: Rpc) => rpc.call<string>("eth_getBalance", []);

/** Answers the chain id, and times out otherwise until it is back. */
function outOfTime(asked: string[]): Rpc & { isBack: boolean } {
  const silent = {
    ...endpoint("silent"),
    isBack: false,
    call: async <T>(method: string) => {
      if (silent.isBack || method === "eth_chainId") return HONEST[method] as T;
      asked.push(method);
      throw new RpcTimeout("no answer in time");
    },
  };
  return silent;
}

/** Takes no signed bytes. */
function refusing(name: string, message: string): Rpc {
  const call = () => Promise.reject(new RpcRefusal(-32000, message));
  return { ...endpoint(name), call };
}

async function everything({ provider }: ReturnType<typeof open>) {
  const { number, time, baseFeeWei, gasLimit } = await provider.latestBlock();
  return {
    ...{ number, time, baseFeeWei, gasLimit },
    nonce: await provider.nonce("0x", "latest"),
    balance: await provider.balance("0x"),
    tip: await provider.priorityFeeWei(),
    receipts: await provider.receipts(["0x"]),
  };
}
