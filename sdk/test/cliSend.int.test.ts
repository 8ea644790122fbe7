// `send` of the command line example when the chain's node does not answer, or refuses: a
// script that repeats it must not pay twice.
import { type ChildProcess, execFile } from "node:child_process";
import { join } from "node:path";
import { setTimeout as sleep } from "node:timers/promises";
import { faultServer, type FaultServer } from "./support/faultServer.ts";
import { type Fate, stubNode, type StubNode } from "./support/stubNode.ts";

const EXAMPLE = join(__dirname, "../examples/cli/index.js");
const SEND = ["send", "--to", `0x${"ab".repeat(20)}`, "--amount", "1"];
let node: StubNode;
let service: FaultServer;

beforeEach(async () => {
  service = await faultServer([]);
});
afterEach(async () => {
  await node.close();
  await service.close();
});

type CliResult = { code: number; stdout: string; stderr: string };

async function sendAt(
  fate: Fate,
  flags: string[] = [],
  {
    chainId,
    settings = {},
    interruptedAt,
    hungAt,
    goneAt,
    readsOn = true,
  }: {
    chainId?: number;
    settings?: Record<string, string>;
    interruptedAt?: string;
    hungAt?: string;
    goneAt?: string;
    readsOn?: boolean;
  } = {},
): Promise<CliResult> {
  const onAsked = async (method: string) => {
    if (method === goneAt) await node.close();
    if (method !== interruptedAt) return;
    child.kill("SIGINT");
    // Long enough for the signal to be there before the answer.
    await sleep(300);
    if (method === hungAt) await new Promise(() => {});
  };
  let child: ChildProcess;
  node = await stubNode(fate, { chainId, onAsked });
  const env = {
    ...process.env,
    WONRAIL_BASE_URL: service.url,
    WONRAIL_API_KEY: "wk_test_1",
    RPC_URL: node.url,
    SENDER_PRIVATE_KEY: `0x${"11".repeat(32)}`,
    ...settings,
  };
  return new Promise((resolve) => {
    child = execFile(
      process.execPath,
      [EXAMPLE, ...SEND, ...flags],
      { env, timeout: 60_000 },
      (error, stdout, stderr) => {
        resolve({ code: error === null ? 0 : Number(error.code ?? -1), stdout, stderr });
      },
    );
    if (!readsOn) child.stderr!.once("data", () => child.stderr!.destroy());
  });
}

test.each([[[]], [["--authorization"]]])(
  "send %p of which the node's answer is lost is 5, and tells the hash of what the node has taken",
  async (flags) => {
    const lost = await sendAt("dropped after", flags);
    const [txHash] = node.given;
    expect(node.given).toHaveLength(1);
    expect(lost).toMatchObject({ code: 5, stdout: "" });
    expect(lost.stderr).toContain(`sending   ${txHash}\n`);
    expect(lost.stderr).toContain(`do not send again, record it with create --hash ${txHash}`);
    expect(service.seen).toHaveLength(0);
  },
);

test("--json prints the hash before the failure, and in it", async () => {
  const { code, stderr } = await sendAt("dropped after", ["--json"]);
  const [reported, failure] = stderr
    .trim()
    .split("\n")
    .map((line) => JSON.parse(line) as object);
  const [txHash] = node.given;
  expect(code).toBe(5);
  expect(reported).toEqual({ txHash });
  expect(failure).toMatchObject({ txHash, outcomeUnknown: true });
});

test("an accepted transaction is recorded although other questions to the node fail", async () => {
  expect(await sendAt("taken")).toMatchObject({ code: 0, stdout: expect.stringMatching(/txn_1/) as string });
  expect(node.asked.at(-1)).toBe("eth_sendRawTransaction");
  expect(service.seen).toHaveLength(1);
});

test.each<[string, Fate]>([
  ["has it already", { refusal: { code: -32000, message: "already known" } }],
  ["has it already, in other words", { refusal: { code: -32003, message: "transaction already imported" } }],
  // As after a proxy that asked the node again when an answer was lost.
  ["has mined it", { refusal: { code: -32000, message: "nonce too low: next nonce 6" }, isKnown: true }],
])("a node that %s has accepted it", async (_, fate) => {
  expect(await sendAt(fate)).toMatchObject({ code: 0 });
  expect(service.seen).toHaveLength(1);
});

test.each([
  "insufficient funds for gas * price + value",
  "nonce too low: next nonce 6",
  "replacement transaction underpriced",
  "only replay-protected (EIP-155) transactions allowed over RPC",
  "unknown transaction type",
])("a refusal by the node, such as %s, exits with 1 and states the reason", async (message) => {
  const refused = await sendAt({ refusal: { code: -32003, message } });
  expect(refused).toMatchObject({ code: 1, stdout: "" });
  expect(refused.stderr).toContain(`nothing was sent: ${message}`);
  expect(refused.stderr).not.toContain("may have been done");
  expect(service.seen).toHaveLength(0);
});

test.each([
  [-32603, "internal error"],
  [-32002, "request timed out"],
])("the node's error %p, %s, leaves the outcome unknown and exits with 5", async (code, message) => {
  const unclear = await sendAt({ refusal: { code, message } });
  expect(unclear.code).toBe(5);
  expect(unclear.stderr).toContain(`create --hash ${node.given[0]}`);
});

test("a node of another chain exits with 2 and receives nothing", async () => {
  const refused = await sendAt("taken", [], { chainId: 8453 });
  expect(refused).toMatchObject({ code: 2, stdout: "" });
  expect(refused.stderr).toContain(`${node.url} is on chain 8453, not 31337`);
  expect(refused.stderr).toContain("CHAIN_ID");
  expect(node.asked).toEqual(["eth_chainId"]);
});

test.each([[[]], [["--authorization"]]])("send %p works on the chain of CHAIN_ID", async (flags) => {
  expect(await sendAt("taken", flags, { chainId: 8453, settings: { CHAIN_ID: "8453" } })).toMatchObject({
    code: 0,
  });
  expect(node.given).toHaveLength(1);
});

test.each(["mainnet", "0", "1.5", "0x2105"])("a CHAIN_ID of %s exits with 2", async (CHAIN_ID) => {
  const refused = await sendAt("taken", [], { settings: { CHAIN_ID } });
  expect(refused).toMatchObject({ code: 2, stderr: expect.stringContaining("CHAIN_ID") as string });
  expect(node.asked).toEqual([]);
});

test("an empty CHAIN_ID counts as absent", async () => {
  expect((await sendAt("taken", [], { settings: { CHAIN_ID: "" } })).code).toBe(0);
});

test.each([[[]], [["--authorization"]]])(
  "send %p that is interrupted before the node has it sends nothing",
  async (flags) => {
    const interrupted = await sendAt("taken", flags, { interruptedAt: "eth_chainId" });
    expect(interrupted).toMatchObject({ code: 130, stdout: "" });
    expect(interrupted.stderr).toBe("Error: interrupted\n");
    expect(node.given).toEqual([]);
    expect(service.seen).toEqual([]);
  },
);

test("a reader that closes the pipe after the hash does not prevent the record, and the exit code is 0", async () => {
  expect(await sendAt("taken", [], { readsOn: false })).toMatchObject({ code: 0 });
  expect(service.seen).toHaveLength(1);
});

// A node that hangs never answers: without the signal this would take ethers' five minutes.
test.each([
  ["eth_chainId", []],
  ["eth_getTransactionCount", []],
  ["eth_call", ["--authorization"]],
])("an interruption while the node hangs at %s sends nothing", async (hungAt, flags) => {
  const interrupted = await sendAt("taken", flags, { interruptedAt: hungAt, hungAt });
  expect(interrupted).toMatchObject({ code: 130, stdout: "", stderr: "Error: interrupted\n" });
  expect(node.given).toEqual([]);
  expect(service.seen).toEqual([]);
});

test("a node that hangs with the transaction is abandoned after an interruption, and the hash is printed", async () => {
  const at = "eth_sendRawTransaction";
  const interrupted = await sendAt("taken", [], { interruptedAt: at, hungAt: at });
  expect(interrupted).toMatchObject({ code: 130, stdout: "" });
  expect(interrupted.stderr).toContain(`do not send again, record it with create --hash ${node.given[0]}`);
  expect(service.seen).toEqual([]);
});

test("an interrupted transaction in flight is recorded without waiting", async () => {
  const interruptedAt = "eth_sendRawTransaction";
  const done = await sendAt("taken", [], { interruptedAt });
  expect(done).toMatchObject({ code: 0, stdout: expect.stringMatching(/txn_1/) as string });
  expect(done.stderr).toContain(`sending   ${node.given[0]}\n`);
  expect(service.seen).toHaveLength(1);
  await node.close();
  const left = await sendAt("taken", ["--wait"], { interruptedAt });
  expect(left).toMatchObject({ code: 130, stdout: "" });
  expect(left.stderr).toContain(`sending   ${node.given[0]}\nrecorded  txn_1\n`);
  expect(service.seen).toHaveLength(2);
});

const REFUSED = { RPC_URL: "http://127.0.0.1:1" };
test.each<[string, string[], { settings?: Record<string, string>; goneAt?: string }, RegExp]>([
  ["is not reached", [], { settings: REFUSED }, /ECONNREFUSED/],
  [
    "is gone before it has everything to sign for",
    [],
    { goneAt: "eth_getTransactionCount" },
    /socket hang up/,
  ],
  [
    "is gone before an authorization is signed",
    ["--authorization"],
    { goneAt: "eth_call" },
    /socket hang up/,
  ],
])("a node that %s exits with 3, and nothing was sent", async (_, flags, where, reason) => {
  const lost = await sendAt("taken", flags, where);
  expect(lost).toMatchObject({ code: 3, stdout: "", stderr: expect.stringMatching(reason) as string });
  expect(lost.stderr).toContain("nothing was sent");
  expect(node.given).toEqual([]);
  expect(service.seen).toEqual([]);
});

test.each([
  ["--to", "nobody"],
  ["--to", "won.eth"],
  // The checksum is that of another address.
  ["--to", "0x52908400098527886E0F7030069857D2E4169Ee7"],
  ["--amount", "a lot"],
])("send %s %s exits with 2 without a question to the node", async (option, value) => {
  const refused = await sendAt("taken", [option, value]);
  expect(refused).toMatchObject({ code: 2, stdout: "", stderr: expect.stringContaining(option) as string });
  expect(node.asked).toEqual([]);
});

test.each(["SENDER_PRIVATE_KEY", "SUBMITTER_PRIVATE_KEY"])(
  "a %s that is none is 2 and is not repeated",
  async (name) => {
    const refused = await sendAt("taken", ["--authorization"], { settings: { [name]: "0x12ab" } });
    expect(refused).toMatchObject({ code: 2, stdout: "", stderr: expect.stringContaining(name) as string });
    expect(refused.stderr).not.toContain("12ab");
    expect(node.given).toEqual([]);
  },
);
