import { actionsOf, createAdminService, listOperatorActions } from "@wonrail/kit/admin";
import { newId } from "@wonrail/kit/contract/ids";
import { sql } from "@wonrail/kit/db";
import { recordTerminal, testLog, testRegistry } from "@wonrail/kit/testing";
import { approveNewest } from "@wonrail/kit/testing/approveNewest";
import { buildWorld } from "@wonrail/kit/testing/buildWorld";
import { JournalPosted } from "@wonrail/proto/ledger/events/v1/events";
import { Freeze, FreezeSource } from "@wonrail/proto/ledger/v1/intents";
import { runAdmin } from "./admin";
import { adminRpc } from "./adminRpc";
import { createApp } from "./app";
import { codeOf, soundLedger, transferOf } from "./commands/testing/ledger";

// Operators freeze and unfreeze wallets of a running ledger.

const registry = testRegistry();

let world: Awaited<ReturnType<typeof openDoor>>;
// Before the ledger drops its database.
afterAll(() => world.close());
const ledger = soundLedger();
beforeAll(async () => {
  world = await openDoor();
});

function openDoor() {
  return buildWorld(async (open) => {
    const { db, url } = ledger.database;
    const limits = {
      BATCH_QUEUES: 2,
      MAX_BATCH: 1_000,
      MAX_QUEUE: 20_000,
      MAX_CHARGED_PER_DAY_WON: 1_000_000,
    };
    const config = { DATABASE_URL: url, ...limits } as never;
    const app = await open.app((onClose) => createApp({ config, db, log: testLog(), registry, onClose }));
    const admin = adminRpc(app, db);
    const common = { db, service: "ledger", commit: "0", topic: undefined };
    const { address } = await open.server([admin, createAdminService(common, actionsOf([admin]))]);
    return { app, config: { LEDGER_ADDRESS: address, USER: "tester" } };
  });
}

test("a freeze takes effect at once, and its end needs a second operator", async () => {
  const [from, to] = await twoWallets();
  expect(await run("set", from, "--movements", "outgoing")).toEqual({
    ...{ code: 0, out: `${from} is frozen: OUTGOING.\n`, err: "" },
  });
  expect(await transfer(from, to)).toBe("WAL_005");
  expect(await transfer(to, from)).toBe("posted");
  expect(await run("set", from, "--movements", "all")).toMatchObject({ code: 0 });
  expect(await transfer(to, from)).toBe("WAL_005");
  expect(await frozen()).toContainEqual({
    ...{ orgId: ledger.orgId, walletId: from, byChain: "NONE", byOperator: "ALL" },
  });

  expect((await run("end", from, "--keep-outgoing")).out).toContain("from ALL to OUTGOING");
  expect(await transfer(to, from)).toBe("WAL_005");
  expect(await approveNewest("ledger", world.config, "tester")).toMatchObject({ code: 1 });
  expect(await approveNewest("ledger", world.config)).toMatchObject({ code: 0 });
  expect([await transfer(to, from), await transfer(from, to)]).toEqual(["posted", "WAL_005"]);
  expect(await run("end", from)).toMatchObject({ code: 0 });
  expect(await approveNewest("ledger", world.config)).toMatchObject({ code: 0 });
  expect(await transfer(from, to)).toBe("posted");
  expect((await frozen()).map(({ walletId }) => walletId)).not.toContain(from);

  const actions = await listOperatorActions(ledger.database.db, { limit: 20 });
  const freezes = actions.filter(({ subject }) => subject === from).reverse();
  expect(freezes.map(({ operator, reason }) => `${operator}: ${reason}`)).toEqual([
    ...["tester: police report", "tester: police report"],
    ...["second: seen by a second operator", "second: seen by a second operator"],
  ]);
  expect(freezes.map(({ details }) => JSON.parse(details) as object)).toMatchObject([
    { from: "NONE", to: "OUTGOING" },
    { from: "OUTGOING", to: "ALL" },
    { from: "ALL", to: "OUTGOING", proposedBy: "tester" },
    { from: "OUTGOING", to: "NONE", proposedBy: "tester" },
  ]);
});

test("the ledger's feed and journal tell of the freeze", async () => {
  const [wallet] = await twoWallets();
  await run("set", wallet, "--movements", "all");
  const walletFreeze = { walletId: wallet, source: FreezeSource.OPERATOR, freeze: Freeze.ALL };
  const { payload } = await ledger.database.db.one<{ payload: Buffer }>(sql`
    select payload from outbox where org_id = ${ledger.orgId} order by id desc limit 1`);
  const { entries } = JournalPosted.decode(payload);
  expect(entries).toMatchObject([{ result: { $case: "walletFreeze", value: walletFreeze } }]);
  const { entries: read } = await world.app.listJournal(ledger.orgId, entries[0]!.orgSequence - 1n, 10);
  expect(read).toMatchObject([{ freeze: { walletId: wallet, source: "OPERATOR", freeze: "ALL" } }]);
});

test("a freeze by the chain stays when the operators' freeze ends", async () => {
  const [from, to] = await twoWallets();
  const chain = {
    kind: "freezeAccount",
    walletId: from,
    freeze: "ALL",
    reason: "",
    source: "CHAIN",
  } as const;
  await ledger.post(chain);
  await run("set", from, "--movements", "all");
  await run("end", from);
  await approveNewest("ledger", world.config);
  expect(await transfer(from, to)).toBe("WAL_005");
  expect(await frozen()).toContainEqual({
    ...{ orgId: ledger.orgId, walletId: from, byChain: "ALL", byOperator: "NONE" },
  });
});

test.each([
  ["an equal freeze", ["set", "--movements", "outgoing"], "the operators' freeze is OUTGOING"],
  ["a stricter freeze at its end", ["end", "--keep-outgoing"], "the operators' freeze is OUTGOING"],
])("%s is refused, and nothing is recorded", async (_what, [verb, ...options], sentence) => {
  const [wallet] = await twoWallets();
  await run("set", wallet, "--movements", "outgoing");
  const before = await listOperatorActions(ledger.database.db, { limit: 1 });
  expect(await run(verb!, wallet, ...options)).toMatchObject({
    code: 1,
    err: expect.stringContaining(sentence),
  });
  expect(await listOperatorActions(ledger.database.db, { limit: 1 })).toEqual(before);
});

test("an absent wallet and one of another organisation are refused, and no account is made", async () => {
  const { db } = ledger.database;
  const [wallet] = await twoWallets();
  const other = newId("org");
  const count = () => db.one<{ count: bigint }>(sql`select count(*) from accounts`);
  const before = await count();
  for (const args of [
    [newId("wal"), "--org", ledger.orgId],
    [wallet, "--org", other],
  ])
    expect(await command("freeze", "set", ...args, "--movements", "all", "--reason", "x")).toMatchObject({
      ...{ code: 1, err: expect.stringContaining("wallet") },
    });
  expect(await count()).toEqual(before);
});

test("the gauge counts the wallets that operators froze", async () => {
  const [wallet] = await twoWallets();
  await world.app.countFrozenWallets();
  const before = await gauge();
  await run("set", wallet, "--movements", "outgoing");
  await world.app.countFrozenWallets();
  expect(await gauge()).toBe(before + 1);
});

async function twoWallets(): Promise<[string, string]> {
  return [await ledger.open(undefined, "NORMAL", 1_000n), await ledger.open(undefined, "NORMAL", 1_000n)];
}

async function transfer(from: string, to: string): Promise<string> {
  return codeOf(await ledger.post(transferOf(from, to, 1n)));
}

async function gauge(): Promise<number> {
  const text = await registry.getSingleMetricAsString("ledger_wallets_frozen_by_operator");
  return Number(/freeze="OUTGOING"} (\d+)/.exec(text)![1]);
}

async function frozen(): Promise<{ walletId: string }[]> {
  const { out } = await command("freeze", "list", "--json");
  return JSON.parse(out) as { walletId: string }[];
}

function run(verb: string, wallet: string, ...options: string[]) {
  return command("freeze", verb, wallet, "--org", ledger.orgId, ...options, "--reason", "police report");
}

async function command(...args: string[]) {
  const { terminal, output } = recordTerminal();
  return { code: await runAdmin(args, { config: world.config, ...terminal }), ...output };
}
