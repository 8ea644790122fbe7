import { join } from "node:path";
import { sql, tx } from "@wonrail/kit/db";
import { newId } from "@wonrail/kit/contract/ids";
import { createTestDatabase, type TestDatabase } from "@wonrail/kit/testing";
import { runAdmin } from "./admin";
import { saveDrifts } from "./reconciliation/store/drifts";
import { savePaymentManager } from "./indexer/store/paymentManagers";
import { notePosted, saveWalletBlock } from "./settlement/store/walletBlocks";
import { moveHeads } from "./settlement/store/settlementQueues";
import { operationOf, ingestOperations } from "./testing/operations";

let database: TestDatabase;

beforeAll(async () => {
  database = await createTestDatabase({
    schema: "chain_relayer",
    migrations: join(__dirname, "../migrations"),
  });
});
afterAll(() => database.drop());

test("operations list shows stuck operations with their reason, and operation show gives all details of one", async () => {
  const orgId = newId("org");
  const ledgerRef = newId("pay");
  await insert(orgId, ledgerRef);
  const args = ["operations", "list", "--stuck", "--older-than", "0"];
  expect(await json(...args)).toMatchObject([{ orgId, ledgerRef, state: "WAITING" }]);
  expect((await run("queue", "pause", orgId, "--reason", "asked to")).code).toBe(0);
  expect(await json(...args)).toMatchObject([{ waitReason: "queue_paused" }]);
  await database.db.run(sql`update operations set state = 'PLANNED'`);
  expect(await json(...args)).toMatchObject([{ waitReason: "queue_paused" }]);
  await database.db.run(sql`update operations set state = 'WAITING'`);
  const story = await json("operation", "show", ledgerRef);
  expect(story).toMatchObject({ operation: { ledger_ref: ledgerRef, state: "WAITING" }, transactions: [] });
  expect((await run("operation", "show", ledgerRef)).out).toContain(ledgerRef);
  expect((await run("operation", "show", "pay_0")).code).toBe(1);
});

test("an operation is ended only with a reason and its repeated id", async () => {
  const ledgerRef = newId("pay");
  const args = ["operation", "end", ledgerRef, "--by", "sign-anew"];
  expect(await run(...args)).toMatchObject({ code: 2 });
  expect(await run(...args, "--reason", "seen")).toMatchObject({
    code: 1,
    err: expect.stringContaining(`--confirm ${ledgerRef}`),
  });
  expect(await run(...args, "--reason", "seen", "--confirm", newId("pay"))).toMatchObject({ code: 1 });
  expect(await run(...args, "--reason", "seen", "--tx", "0x1", "--confirm", ledgerRef)).toMatchObject({
    code: 1,
    err: expect.stringContaining("--tx"),
  });
  expect(await run("operation", "end", ledgerRef, "--by", "magic", "--reason", "x")).toMatchObject({
    code: 2,
  });
});

test("pauses and resumes a queue, and records operator and reason", async () => {
  const orgId = newId("org");
  expect((await run("queue", "pause", orgId, "--reason", "asked to")).code).toBe(1);
  await insert(orgId, newId("pay"));
  await run("queue", "pause", orgId, "--reason", "asked to");
  const queues = (await json("queue", "list")) as { orgId: string }[];
  expect(queues.find((queue) => queue.orgId === orgId)).toEqual({
    orgId,
    pausedReason: "asked to (operator:tester)",
    queued: "0",
  });
  expect((await run("queue", "resume", orgId)).code).toBe(0);
  expect((await run("queue", "resume", newId("org"))).code).toBe(1);
});

test.each([
  [["operations", "list", "--org", "FIRST"]],
  [["queue", "pause", "FIRST", "--reason", "asked to"]],
  [["queue", "resume", "FIRST"]],
])("%j: an organisation's code is refused, because it is no id", async (args) => {
  expect(await run(...args)).toMatchObject({ code: 2, err: expect.stringContaining("organisation's id") });
});

test("counts a queue's entries that are not pulled, and names the command for an unknown operation", async () => {
  const orgId = newId("org");
  await moveHeads(database.db, [{ orgId, sequence: 2n }]);
  expect(await json("queue", "list")).toContainEqual({ orgId, pausedReason: null, queued: "2" });
  const result = await run("operation", "show", newId("chg"));
  expect(result).toMatchObject({ code: 1, err: expect.stringContaining("queue list") });
});

test("acknowledges a wallet's drift once, and an equal drift is not reported again", async () => {
  const walletId = newId("wal");
  const found = {
    orgId: newId("org"),
    walletId,
    kind: "CHAIN" as const,
    subject: "",
    expected: 5n,
    actual: 7n,
    blockNumber: 1n,
  };
  expect(await saveDrifts(database.db, [found])).toHaveLength(1);
  expect(await saveDrifts(database.db, [found])).toHaveLength(0);
  expect(await json("drift", "list")).toMatchObject([{ walletId, difference: "2", acknowledgedAt: null }]);
  expect((await run("drift", "ack", walletId)).out).toBe("1 acknowledged.\n");
  expect((await run("drift", "ack", walletId)).code).toBe(1);
  expect(await saveDrifts(database.db, [{ ...found, expected: 6n, actual: 8n }])).toHaveLength(0);
  expect(await json("drift", "list")).toEqual([]);
  expect(await saveDrifts(database.db, [{ ...found, actual: 9n }])).toHaveLength(1);
  expect(await json("drift", "list", "--all")).toMatchObject([
    { difference: "4" },
    { acknowledgedBy: "operator:tester" },
  ]);
});

test("lists blocked wallets with the answer of the ledger and the number of waiting operations", async () => {
  const [orgId, walletId] = [newId("org"), newId("wal")];
  await ingestOperations(database.db, [operationOf(walletId, { orgId })]);
  const place = { blockNumber: 7n, blockHash: "0x7", logIndex: 0, address: `0x${"5".repeat(40)}` };
  const block = { walletId, orgId, blocked: true, ...place };
  await tx(database.db, (tx) => saveWalletBlock(tx, block));
  await notePosted(database.db, block, "WAL_002");
  expect(await json("blocked", "list")).toMatchObject([
    { walletId, sinceBlock: "7", frozen: false, refusal: "WAL_002", waiting: "1" },
  ]);
  await notePosted(database.db, block, null);
  expect(await json("blocked", "list")).toMatchObject([{ walletId, frozen: true, refusal: null }]);
  const later = { ...block, blocked: false, blockNumber: 8n };
  await tx(database.db, (tx) => saveWalletBlock(tx, later));
  expect(await json("blocked", "list")).toEqual([]);
});

test("lists payment managers, the one in use last, and takes no other without a look at the chain", async () => {
  const [one, next] = ["4", "5"].map((digit) => `0x${digit.repeat(40)}`);
  for (const address of [next!, one!]) await tx(database.db, (tx) => savePaymentManager(tx, address));
  expect(await json("manager", "list")).toEqual([{ address: next }, { address: one }]);
  expect((await run("manager", "adopt", "0x12")).code).toBe(2);
  const { code, err } = await run("manager", "adopt", next!);
  expect({ code, err }).toEqual({ code: 2, err: expect.stringContaining("There is no chain.") });
});

test("a wrong command line exits with 2 and names the help", async () => {
  const { code, err } = await run("drift", "ack", "--id", "x");
  expect(code).toBe(2);
  expect(err).toContain("--help");
  expect((await run("drift", "ack")).code).toBe(1);
});

test("a database of another service is refused with a message", async () => {
  const other = await createTestDatabase({ schema: "elsewhere" });
  const { code, err } = await run.on(other.url)("operations", "list");
  await other.drop();
  expect({ code, err }).toEqual({ code: 2, err: expect.stringMatching(/ no schema chain_relayer .+\.\n$/) });
});

function insert(orgId: string, ledgerRef: string): Promise<void> {
  return ingestOperations(database.db, [operationOf(newId("wal"), { orgId, ledgerRef })]);
}

function runOn(databaseUrl: () => string) {
  return async (...args: string[]) => {
    const output = { out: "", err: "" };
    const code = await runAdmin(args, {
      config: {
        DATABASE_URL: databaseUrl(),
        NETWORK: "WON_TESTNET" as const,
        CHAIN_RPC_URLS: [],
        USER: "tester",
      },
      out: (text) => void (output.out += text),
      err: (text) => void (output.err += text),
    });
    return { code, ...output };
  };
}

const run = Object.assign(
  runOn(() => database.url),
  { on: (url: string) => runOn(() => url) },
);

async function json(...args: string[]): Promise<unknown> {
  const { code, out, err } = await run(...args, "--json");
  expect([code, err]).toEqual([0, ""]);
  return JSON.parse(out);
}
