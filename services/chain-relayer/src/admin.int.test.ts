import { join } from "node:path";
import { sql, tx } from "@wonrail/kit/db";
import { newId } from "@wonrail/kit/contract/ids";
import { actionsOf, createAdminService, listOperatorActions } from "@wonrail/kit/admin";
import { recordTerminal, type TestDatabase } from "@wonrail/kit/testing";
import { approveNewest } from "@wonrail/kit/testing/approveNewest";
import { buildWorld } from "@wonrail/kit/testing/buildWorld";
import { runAdmin } from "./admin";
import { adminRpc } from "./adminRpc";
import { RpcUnanswered } from "./evm";
import { saveDrifts } from "./reconciliation/store/drifts";
import { savePaymentManager } from "./indexer/store/paymentManagers";
import { notePosted, saveWalletBlock } from "./settlement/store/walletBlocks";
import { moveHeads } from "./settlement/store/settlementQueues";
import { createChainDouble, cursorAt } from "./testing/chainDouble";
import { operationOf, ingestOperations } from "./testing/operations";

const SIGNER = `0x${"5".repeat(40)}`;
const TOKEN = `0x${"7".repeat(40)}`;

let database: TestDatabase;
let address: string;
const world = buildWorld(async (open) => {
  database = await open.database({ schema: "chain_relayer", migrations: join(__dirname, "../migrations") });
  const { provider } = createChainDouble();
  provider.callAt = () => Promise.reject(new RpcUnanswered("no endpoint answers"));
  const deps = {
    db: database.db,
    network: "WON_TESTNET",
    signerAddress: SIGNER,
    tokenAddress: TOKEN,
    reachChain: async () => provider,
    correctHeads: async () => undefined,
  };
  const admin = adminRpc(deps);
  const common = { db: database.db, service: "chain-relayer", commit: "0", topic: undefined };
  return open.server([admin, createAdminService(common, actionsOf([admin]))]);
});
beforeAll(async () => {
  ({ address } = await world);
});
afterAll(async () => (await world).close());

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

test("a blocked operation ends with a reason and a second operator's approval", async () => {
  const [orgId, ledgerRef] = [newId("org"), newId("pay")];
  const args = ["operation", "end", ledgerRef, "--by", "pass-over"];
  expect(await run(...args)).toMatchObject({ code: 2 });
  expect(await run(...args, "--reason", "seen", "--tx", "0x1")).toMatchObject({
    code: 1,
    err: expect.stringContaining("--tx"),
  });
  for (const hash of ["0x1", "fuzz", ledgerRef, `0x${"7".repeat(65)}`])
    expect(await run("operation", "end", ledgerRef, "--by", "settled", "--tx", hash, ...SEEN)).toMatchObject({
      code: 1,
      err: expect.stringContaining("tx-hash: must be 0x and 64 hex digits"),
    });
  expect(await run(...args, "--reason", "seen")).toMatchObject({
    code: 1,
    err: expect.stringContaining("does not wait for an operator"),
  });
  const blocked = operationOf(newId("wal"), { orgId, ledgerRef, blockedReason: "unreadable" });
  await ingestOperations(database.db, [blocked]);
  const { code, out } = await run(...args, "--reason", "seen");
  expect({ code, out }).toEqual({
    code: 0,
    out: expect.stringContaining("npx wonrail proposal approve prp_"),
  });
  expect(await json("operation", "show", ledgerRef)).toMatchObject({ operation: { state: "BLOCKED" } });
  expect(await approve()).toMatchObject({
    code: 0,
    out: expect.stringContaining("never settled on the chain"),
  });
  expect(await json("operation", "show", ledgerRef)).toMatchObject({ operation: { state: "PASSED" } });
  expect(await run("operation", "end", ledgerRef, "--by", "magic", "--reason", "x")).toMatchObject({
    code: 2,
  });
});

const SEEN = ["--reason", "seen"];
const SERVICE = "wonrail.relayer.v1.RelayerAdminService";

test("pauses and resumes a queue, and records operator and reason", async () => {
  const orgId = newId("org");
  expect((await run("queue", "pause", orgId, "--reason", "asked to")).code).toBe(1);
  await insert(orgId, newId("pay"));
  await run("queue", "pause", orgId, "--reason", "asked to");
  const queues = (await json("queue", "list")) as { orgId: string }[];
  expect(queues.find((queue) => queue.orgId === orgId)).toEqual({
    orgId,
    pausedReason: "asked to (tester)",
    queued: "0",
  });
  const resume = ["queue", "resume", orgId, "--reason", "settled"];
  expect(await run(...resume)).toMatchObject({
    code: 0,
    out: expect.stringContaining("paused for this reason: asked to (tester)"),
  });
  expect(await json("queue", "list")).toContainEqual({
    orgId,
    pausedReason: "asked to (tester)",
    queued: "0",
  });
  expect(await approveNewest("chain-relayer", { RELAYER_ADDRESS: address }, "tester")).toMatchObject({
    code: 1,
    err: expect.stringContaining("Another operator must approve"),
  });
  expect((await approve()).code).toBe(0);
  expect(await json("queue", "list")).toContainEqual({ orgId, pausedReason: null, queued: "0" });
  expect(await run(...resume)).toMatchObject({
    code: 1,
    err: expect.stringContaining("has no paused queue"),
  });
  expect(await listOperatorActions(database.db, { limit: 4 })).toMatchObject([
    { method: `${SERVICE}/ResumeQueue`, orgId, operator: "second", reason: "seen by a second operator" },
    { method: "wonrail.common.v1.AdminService/ApproveProposal", operator: "second" },
    { method: `${SERVICE}/ResumeQueue`, orgId, operator: "tester", reason: "settled" },
    { method: `${SERVICE}/PauseQueue`, orgId, operator: "tester", reason: "asked to" },
  ]);
});

test.each([
  [["operations", "list", "--org", "FIRST"]],
  [["queue", "pause", "FIRST", "--reason", "asked to"]],
  [["queue", "resume", "FIRST", "--reason", "settled"]],
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
  const acknowledge = ["drift", "ack", walletId, "--reason", "explained"];
  expect((await run(...acknowledge)).out).toContain("(CHAIN, 2 token units)");
  expect(await json("drift", "list")).toMatchObject([{ walletId, acknowledgedAt: null }]);
  expect((await approve()).code).toBe(0);
  expect((await run(...acknowledge)).code).toBe(1);
  expect(await listOperatorActions(database.db, { limit: 1 })).toMatchObject([
    { method: `${SERVICE}/AcknowledgeDrifts`, subject: walletId, operator: "second" },
  ]);
  expect(await saveDrifts(database.db, [{ ...found, expected: 6n, actual: 8n }])).toHaveLength(0);
  expect(await json("drift", "list")).toEqual([]);
  expect(await saveDrifts(database.db, [{ ...found, actual: 9n }])).toHaveLength(1);
  expect(await json("drift", "list", "--all")).toMatchObject([
    { difference: "4" },
    { acknowledgedBy: "second" },
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
  const reason = ["--reason", "new release"];
  expect((await run("manager", "adopt", "0x12", ...reason)).code).toBe(2);
  expect(await run("manager", "adopt", one!, ...reason)).toMatchObject({
    code: 1,
    err: expect.stringContaining(" is in use\n"),
  });
  await cursorAt(database.db, 1_000n, 4_000_000_000n);
  const { code, err } = await run("manager", "adopt", next!, ...reason);
  expect({ code, err }).toEqual({ code: 2, err: expect.stringContaining("Nothing was changed: try again.") });
});

test("a wrong command line exits with 2 and names the help", async () => {
  const { code, err } = await run("drift", "ack", "--id", "x");
  expect(code).toBe(2);
  expect(err).toContain("--help");
  expect((await run("drift", "ack", "--reason", "explained")).code).toBe(1);
});

function insert(orgId: string, ledgerRef: string): Promise<void> {
  return ingestOperations(database.db, [operationOf(newId("wal"), { orgId, ledgerRef })]);
}

function approve() {
  return approveNewest("chain-relayer", { RELAYER_ADDRESS: address });
}

test("an acknowledgement is refused when the wallet has another difference by then", async () => {
  const [orgId, walletId] = [newId("org"), newId("wal")];
  const found = {
    orgId,
    walletId,
    kind: "CHAIN" as const,
    subject: "",
    expected: 5n,
    actual: 7n,
    blockNumber: 1n,
  };
  await saveDrifts(database.db, [found]);
  expect((await run("drift", "ack", walletId, "--reason", "explained")).code).toBe(0);
  await saveDrifts(database.db, [{ ...found, kind: "LEDGER", actual: 9n }]);
  expect(await approve()).toMatchObject({
    code: 1,
    err: expect.stringContaining("no longer do what was proposed"),
  });
  const drifts = (await json("drift", "list")) as { walletId: string }[];
  expect(drifts.filter((drift) => drift.walletId === walletId)).toMatchObject([
    { acknowledgedAt: null },
    { acknowledgedAt: null },
  ]);
});

async function run(...args: string[]) {
  const { terminal, output } = recordTerminal();
  const code = await runAdmin(args, { config: { RELAYER_ADDRESS: address, USER: "tester" }, ...terminal });
  return { code, ...output };
}

async function json(...args: string[]): Promise<unknown> {
  const { code, out, err } = await run(...args, "--json");
  expect([code, err]).toEqual([0, ""]);
  return JSON.parse(out);
}
