import { setTimeout as sleep } from "node:timers/promises";
import { listOperatorActions } from "@wonrail/kit/admin";
import { sql, tx } from "@wonrail/kit/db";
import { DomainError } from "@wonrail/kit/contract/errors";
import { newId } from "@wonrail/kit/contract/ids";
import { WalletReopened } from "@wonrail/proto/wallet/events/v1/events";
import { approveNewest } from "@wonrail/kit/testing/approveNewest";
import { WalletType } from "@wonrail/proto/wallet/v1/wallet";
import { runAdmin } from "../admin";
import { findReopening } from "../store/reopenings";
import { untilWaiting } from "./testing/moments";
import { agreedStatus, openWorld, statusName, type World } from "./testing/world";

let world: World;
let orgId: string;
let walletId: string;

beforeAll(async () => {
  world = await openWorld();
});
afterAll(() => world.close());
beforeEach(async () => {
  world.ledger.loseAnswer = () => undefined;
  world.ledger.refuse = () => undefined;
  orgId = newId("org");
  const asked = { orgId, userId: "kim", walletType: WalletType.NORMAL, metadata: {} };
  walletId = (await world.client.createWallet(asked)).wallet!.walletId;
});

const agreed = () => agreedStatus(world, { orgId, walletId });

test("an operator reopens a deactivated wallet under his name, and its partner can deactivate it again", async () => {
  expect(await deactivate()).toBe("DEACTIVATED");
  const before = (await world.client.getWallet({ orgId, walletId })).wallet!;
  expect(await reopened()).toEqual({
    code: 0,
    output: `${walletId} is ACTIVE. No approved reopening waits.`,
  });
  expect(await agreed()).toBe("ACTIVE");
  const after = (await world.client.getWallet({ orgId, walletId })).wallet!;
  expect(after.updatedAt!.getTime()).toBeGreaterThan(before.updatedAt!.getTime());
  expect(world.logged()).toContain('"operator":"second"');

  expect(await listOperatorActions(world.database.db, { limit: 3 })).toMatchObject([
    { operator: "second", orgId, subject: walletId },
    { operator: "second", orgId },
    { operator: "tester", orgId, reason: "tokens arrived" },
  ]);
  expect(await deactivate()).toBe("DEACTIVATED");
  expect(await agreed()).toBe("DEACTIVATED");
  const published = await events();
  expect(published.map(({ type, version }) => `${type} ${version}`)).toEqual([
    ...["wallet_created 1", "wallet_deactivated 2", "wallet_reopened 3", "wallet_deactivated 4"],
  ]);
  expect(WalletReopened.decode(published[2]!.payload)).toEqual({ walletId, reopenedAt: after.updatedAt });
});

test("an active, absent or foreign wallet is refused with the reason, and no request is stored", async () => {
  const refusal = "only a DEACTIVATED wallet can be reopened";
  expect(await reopen()).toEqual({ code: 1, output: `wallet: ${walletId} is ACTIVE: ${refusal}` });
  world.ledger.loseAnswer = dies;
  await deactivate();
  expect(await reopen()).toEqual({ code: 1, output: `wallet: ${walletId} is DEACTIVATING: ${refusal}` });
  const other = newId("org");
  expect(await reopen({ org: other })).toEqual({
    code: 1,
    output: `wallet: ${other} has no wallet ${walletId}`,
  });
  expect(await reopen({ org: "FIRST" })).toMatchObject({ code: 2, output: expect.stringContaining("--org") });
  expect(await reopen({ wallet: "kim" })).toMatchObject({
    code: 1,
    output: expect.stringContaining("--wallet"),
  });
  const rows = await world.database.db.query(
    sql`select from reopenings where org_id in (${orgId}, ${other})`,
  );
  expect(rows).toEqual([]);
});

test("two jobs finish an interrupted reopening under one request id with one event", async () => {
  await deactivate();
  world.ledger.loseAnswer = dies;
  expect(await reopen()).toMatchObject({ code: 0 });
  const waiting = await run(["wallet", "await-reopening", "--org", orgId, "--wallet", walletId]);
  expect(waiting).toMatchObject({ code: 1, output: expect.stringContaining("is not reopened yet") });
  const { requestId } = (await findReopening(world.database.db, orgId, walletId))!;
  await expect(runJob()).rejects.toThrow("1 wallets could not be reopened");
  // A wallet can be deactivated again only after it is ACTIVE.
  expect(await deactivate()).toBe("WAL_004");
  expect(await reopen()).toMatchObject({ code: 0 });
  expect(await findReopening(world.database.db, orgId, walletId)).toMatchObject({ requestId });

  world.ledger.loseAnswer = () => undefined;
  await Promise.all([runJob(), runJob()]);
  expect(await agreed()).toBe("ACTIVE");
  expect((await events()).filter(({ type }) => type === "wallet_reopened")).toHaveLength(1);
});

/**
 * A replica has not heard yet that its reopening was granted. Another replica finished it, and the
 * wallet was deactivated again.
 */
async function deactivatedSinceReopening() {
  await deactivate();
  const hears = holdAnswer();
  await reopen();
  const late = runJob();
  await until(() => world.ledger.asked.includes(`reopenAccount ${walletId}`));
  world.ledger.loseAnswer = () => undefined;
  await runJob();
  expect(await deactivate()).toBe("DEACTIVATED");
  return { hears, late };
}

test("a replica with a late reopening leaves a wallet closed that was deactivated since", async () => {
  const { hears, late } = await deactivatedSinceReopening();
  hears();
  await late;
  await runJob();
  expect(await agreed()).toBe("DEACTIVATED");
});

test("a replica with a late reopening leaves a later request open", async () => {
  const { hears, late } = await deactivatedSinceReopening();
  await reopen();
  hears();
  await late;
  expect(await agreed()).toBe("DEACTIVATED");
  await runJob();
  expect(await agreed()).toBe("ACTIVE");
});

test("a deactivation whose answer arrives after a reopening changes nothing", async () => {
  const hears = holdAnswer();
  const late = deactivate();
  await until(() => world.ledger.asked.includes(`closeAccount ${walletId}`));
  world.ledger.loseAnswer = () => undefined;
  expect(await deactivate()).toBe("DEACTIVATED");
  expect(await reopened()).toMatchObject({ code: 0 });
  hears();
  expect(await late).toBe("ACTIVE");
  expect(await agreed()).toBe("ACTIVE");
});

test("a second request during the reopening sees ACTIVE and stores nothing", async () => {
  const { db } = world.database;
  await deactivate();
  await reopen();
  let job: Promise<void> | undefined;
  let second: Promise<unknown> | undefined;
  await tx(db, async (tx) => {
    await tx.run(sql`lock table outbox in access exclusive mode`);
    job = runJob();
    await untilWaiting(db, 1);
    second = reopen();
    await untilWaiting(db, 2);
  });
  await job;
  expect(await second).toMatchObject({ code: 1, output: expect.stringContaining(`${walletId} is ACTIVE`) });
  expect(await findReopening(db, orgId, walletId)).toBeUndefined();
});

test("a ledger of an older release refuses a reopening and delays no other wallet, and a newer one executes it", async () => {
  await deactivate();
  const [first, old] = [walletId, (await another()).walletId];
  world.ledger.refuse = ({ intent }) =>
    intent?.$case === "reopenAccount" && intent.value.walletId === first
      ? new DomainError("REQ_001", { fields: [] })
      : undefined;
  await reopen();
  await reopen({ wallet: old });
  await expect(runJob()).rejects.toThrow("1 wallets could not be reopened");
  expect([world.ledger.opened.has(first), world.ledger.opened.has(old)]).toEqual([false, true]);
  world.ledger.refuse = () => undefined;
  await runJob();
  expect(await agreed()).toBe("ACTIVE");
});

/** Another wallet of the same organisation, deactivated. */
async function another(): Promise<{ walletId: string }> {
  const asked = { orgId, userId: "lee", walletType: WalletType.NORMAL, metadata: {} };
  const { wallet } = await world.client.createWallet(asked);
  await world.client.deactivateWallet({ orgId, walletId: wallet!.walletId });
  return { walletId: wallet!.walletId };
}

/** Proposes to reopen a wallet, and approves that. No process executes the request yet. */
async function reopen(
  options: { org?: string; wallet?: string } = {},
): Promise<{ code: number; output: string }> {
  const key = ["--org", options.org ?? orgId, "--wallet", options.wallet ?? walletId];
  const proposed = await run(["wallet", "reopen", ...key, "--reason", "tokens arrived"]);
  if (proposed.code !== 0) return proposed;
  const { code, out, err } = await approveNewest("wallet", { WALLET_ADDRESS: world.address });
  return { code, output: out + err };
}

/** And while the service runs. */
async function reopened(): Promise<{ code: number; output: string }> {
  await reopen();
  const waiting = run(["wallet", "await-reopening", "--org", orgId, "--wallet", walletId], 20_000);
  await runJob();
  return waiting;
}

async function run(args: string[], patienceMs = 0): Promise<{ code: number; output: string }> {
  let output = "";
  const hear = (text: string) => void (output += text);
  const config = { WALLET_ADDRESS: world.address, USER: "tester" };
  const code = await runAdmin(args, { config, out: hear, err: hear, patienceMs });
  return { code, output: output.trimEnd() };
}

function runJob(): Promise<void> {
  return world.app.reopenWallets(new AbortController().signal);
}

/** The caller's answer: a status, or the code of a refusal. */
function deactivate(): Promise<string> {
  return world.client.deactivateWallet({ orgId, walletId }).then(
    ({ wallet }) => statusName(wallet!.status),
    (error: DomainError) => error.code,
  );
}

/** The next answer is on its way until the function is called. */
function holdAnswer(): () => void {
  let hears = (): void => undefined;
  const heard = new Promise<void>((resolve) => (hears = resolve));
  world.ledger.loseAnswer = () => heard.then(() => undefined);
  return hears;
}

function dies(): Error {
  return new DomainError("SYS_003");
}

async function until(holds: () => boolean | Promise<boolean>): Promise<void> {
  while (!(await holds())) await sleep(5);
}

function events(): Promise<{ type: string; version: bigint; payload: Buffer }[]> {
  return world.database.db.query(
    sql`select type, version, payload from outbox where aggregate_id = ${walletId} order by id`,
  );
}
