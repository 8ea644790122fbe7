import { setTimeout as sleep } from "node:timers/promises";
import { idToUuid } from "@wonrail/kit/contract/ids";
import { missingKafkaReason } from "../bus/ownServer";
import { type RehearsalFigures, type RestoreFigures } from "../evidence/figures";
import { storeResult } from "../evidence/results";
import { openWallet } from "../money/scenes";
import { type Json } from "../support/api";
import { admin } from "../support/operators";
import { reconciled } from "../support/reconciled";
import { reportSkipped } from "../support/reportSkipped";
import { executionsOf } from "./chainFacts";
import { proposeAndApprove, wonrail, wonrailJson } from "./commands";
import {
  acknowledgeAll,
  chainBalances,
  destroyAndRestore,
  expectSoundBooks,
  knownRequests,
  ledgerBalances,
  openRestoreWorld,
  type Order,
  repeat,
  type RestoreWorld,
  resume,
  SERVICE_NAMES,
  startLoad,
  startServices,
  untilCompared,
  untilSettled,
} from "./world";

// The databases of all services are destroyed and restored to an earlier time, by the commands of
// docs/operate/backup.md. The chain has settled orders that the restored ledger does not know.

jest.setTimeout(900_000);

const LOST_ORDERS = 3;
const LOAD_MS = 2_000;
const BEFORE_RELAYER = SERVICE_NAMES.filter((name) => name !== "chain-relayer");

const startedMs = performance.now();
const figures: Partial<RestoreFigures> = {};

afterAll(() => {
  const { withKafka, withoutKafka } = figures;
  if (process.env.WONRAIL_STORE_FIGURES === undefined || !withKafka || !withoutKafka) return;
  const seconds = Math.round((performance.now() - startedMs) / 1_000);
  const command = "npm run evidence -- --run --only restore";
  storeResult("restore", { command, seconds, figures: { withKafka, withoutKafka } });
});

const missing = missingKafkaReason();
if (missing !== undefined) reportSkipped(`a restore enters no lost entries again, ${missing}`);

(missing === undefined ? describe : describe.skip)("a restore with Kafka", () => {
  let world: RestoreWorld;
  let kept: Order[];
  let lost: Order[];
  let restorePoint: Date;
  let lateWallet: Json;

  beforeAll(async () => {
    world = await openRestoreWorld("kafka");
  });
  afterAll(() => world?.close());

  test("plan lists the keys that a restore to an earlier time takes back", async () => {
    ({ kept, restorePoint } = await backUpUnderLoad(world));
    lateWallet = await openWallet(world.api, 5_000);
    lost = await sendLost(world);
    const key = await admin(world.stack.stack(), "key", "issue", "--org", world.organisation.orgCode);
    const plan = await wonrailJson(world.stack, "restore", "plan", "--to", restorePoint.toISOString());
    expect(plan.changes).toContainEqual(
      expect.objectContaining({ service: "auth", action: "key_issued", at: expect.any(String) }),
    );
    expect(JSON.stringify(plan.changes)).not.toContain(key.apiKey);
  });

  test("wallets and entries that only Kafka has are entered again with their ids", async () => {
    await destroyAndRestore(world, restorePoint);
    await world.timed("start", () => startServices(world, BEFORE_RELAYER));
    const before = await knownRequests(world);
    expect(lost.filter(({ id }) => before.has(idToUuid(id)))).toEqual([]);
    const entered = await world.timed("reenter", () =>
      wonrailJson(world.stack, "restore", "reenter", "--reason", "rehearsal"),
    );
    expect(entered).toMatchObject({ wallets: { wallets: "1", problems: [] }, entries: { problems: [] } });
    const after = await knownRequests(world);
    expect([...kept, ...lost].filter(({ id }) => !after.has(idToUuid(id)))).toEqual([]);
  });

  test("chain, ledger and feeds agree without an operator's explanation", async () => {
    await world.timed("start relayer", () => startServices(world, ["chain-relayer"]));
    await world.timed("prepare", () =>
      wonrailJson(world.stack, "restore", "prepare", "--reason", "rehearsal"),
    );
    expect((await world.timed("verify", () => untilCompared(world))).differences).toEqual([]);
    await world.timed("resume", () => resume(world));
  });

  test("partners that repeat their orders get the same answers, and the chain pays nothing twice", async () => {
    const executions = await executionsOf(world.stack.stack());
    for (const order of [...kept, ...lost]) expect(await repeat(world, order)).toBe(order.id);
    await untilSettled(world, [...kept, ...lost]);
    expect(await executionsOf(world.stack.stack())).toEqual(executions);
    const { walletAddress, balance } = await world.api.get(`/api/wallets/${lateWallet.walletId}`);
    expect({ walletAddress, balance }).toEqual({ walletAddress: lateWallet.walletAddress, balance: 5_000 });
    await untilSettled(world, [await world.order(0)]);
    await expectSoundBooks(world);
    figures.withKafka = figuresOf(world, { restorePoint, lost, enteredAgain: lost.length });
  });
});

describe("a restore without Kafka", () => {
  let world: RestoreWorld;
  let kept: Order[];
  let lost: Order[];
  let restorePoint: Date;

  beforeAll(async () => {
    world = await openRestoreWorld("feed");
  });
  afterAll(() => world?.close());

  test("a base backup and the log's archive restore the databases to a moment before the end", async () => {
    ({ kept, restorePoint } = await backUpUnderLoad(world));
    lost = await sendLost(world);
    await destroyAndRestore(world, restorePoint);
    await world.timed("start", () => startServices(world, SERVICE_NAMES));
    const known = await knownRequests(world);
    expect(kept.filter(({ id }) => !known.has(idToUuid(id)))).toEqual([]);
    expect(lost.filter(({ id }) => known.has(idToUuid(id)))).toEqual([]);
  });

  test("plan changes nothing, and prepare pauses the settlement of all organisations", async () => {
    const { stack, timed } = world;
    const plan = await timed("plan", () => wonrailJson(stack, "restore", "plan"));
    expect(plan.restore).toBeUndefined();
    const early = await wonrail(stack, "restore", "resume", "--reason", "too early");
    expect(early).toMatchObject({ code: 1, err: expect.stringContaining("No restore is under way") });
    const prepare = () => wonrailJson(stack, "restore", "prepare", "--reason", "rehearsal");
    const prepared = await timed("prepare", prepare);
    expect(prepared.pausedQueues).toBeGreaterThan(0);
    const { restoreId } = prepared.restore;
    expect(await prepare()).toMatchObject({ pausedQueues: 0, restore: { restoreId } });
  });

  test("verify lists every operation and every wallet about which chain and ledger disagree", async () => {
    const { differences } = await world.timed("verify", () => untilCompared(world));
    const ofKind = (kind: string): Json[] => differences.filter((one: Json) => one.kind === kind);
    expect(ofKind("UNKNOWN_OPERATION")).toHaveLength(LOST_ORDERS);
    const executions = await executionsOf(world.stack.stack());
    for (const { subject } of ofKind("UNKNOWN_OPERATION")) expect(executions).toContain(subject);
    const [chain, ledger] = [await chainBalances(world), await ledgerBalances(world)];
    const gaps = Object.keys(chain).flatMap((id) => {
      const gap = Math.abs(chain[id]! - ledger[id]!);
      return gap === 0 ? [] : [[id, gap]];
    });
    expect(gaps.length).toBeGreaterThan(0);
    const listed = ofKind("LEDGER").map(({ walletId, expected, actual }) => [
      walletId,
      Math.abs(Number(expected) - Number(actual)) / 1_000_000,
    ]);
    expect(listed.sort()).toEqual(gaps.sort());
  });

  test("resume is refused until two operators have explained each difference", async () => {
    expect(await proposeAndApprove(world.stack, "restore", "resume")).toMatchObject({
      code: 1,
      err: expect.stringContaining("differences are not acknowledged"),
    });
    await world.timed("acknowledge", () => acknowledgeAll(world));
    await world.timed("resume", () => resume(world));
  });

  test("lost orders that partners repeat in order keep their transactions: nothing is paid twice", async () => {
    const executions = await executionsOf(world.stack.stack());
    for (const order of kept) expect(await repeat(world, order)).toBe(order.id);
    for (const order of lost) order.id = await repeat(world, order);
    // Each repeated order makes the difference of its wallets smaller, which is another difference.
    await untilSettled(world, lost, () => acknowledgeAll(world));
    expect(await executionsOf(world.stack.stack())).toEqual(executions);
    // A comparison that began before the last settlement can still store a difference.
    await reconciled(world.stack.stack());
    await acknowledgeAll(world);
    await expectSoundBooks(world);
    figures.withoutKafka = figuresOf(world, { restorePoint, lost, enteredAgain: 0 });
  });
});

interface Rehearsed {
  restorePoint: Date;
  lost: Order[];
  enteredAgain: number;
}

function figuresOf(
  { destroyedAt, outageSeconds }: RestoreWorld,
  { restorePoint, lost, enteredAgain }: Rehearsed,
): RehearsalFigures {
  const lostSeconds = Math.round((destroyedAt!.getTime() - restorePoint.getTime()) / 1_000);
  return { lostSeconds, lostOrders: lost.length, enteredAgain, rtoSeconds: outageSeconds() };
}

/** Takes a base backup while clients send orders. Everything before the restore point is settled. */
async function backUpUnderLoad(world: RestoreWorld): Promise<{ kept: Order[]; restorePoint: Date }> {
  const stopLoad = startLoad(world);
  await sleep(LOAD_MS);
  await world.timed("backup", () => world.postgres.backUp());
  await sleep(LOAD_MS);
  const kept = await stopLoad();
  await untilSettled(world, kept);
  return { kept, restorePoint: await world.postgres.archivedUntil() };
}

/** Sends orders that the restore will lose, one after the other, and waits for the chain. */
async function sendLost(world: RestoreWorld): Promise<Order[]> {
  const lost: Order[] = [];
  for (let number = 0; number < LOST_ORDERS; number += 1) lost.push(await world.order(number));
  await untilSettled(world, lost);
  return lost;
}
