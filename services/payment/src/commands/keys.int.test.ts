import { randomUUID } from "node:crypto";
import { idAt, newId } from "@wonrail/kit/contract/ids";
import { type ExecuteRequest, type ExecuteResponse } from "@wonrail/proto/payment/v1/payment";
import { readJournal } from "./testing/events";
import { cancelCharge, charge, type Command, transfer } from "./testing/commands";
import { openWorld, requestOf, valueOf, type World } from "./testing/world";

// An idempotency key promises one effect and one answer. The ledger keeps the key.

let world: World;
beforeAll(async () => {
  world = await openWorld();
}, 60_000);
afterEach(async () => expect(await world.violations()).toEqual([]));
afterAll(() => world.close());

const chargeIdOf = (answer: ExecuteResponse) => valueOf(answer, "charge").chargeId;

test("the same key 50 times in parallel on two replicas has one effect and one answer", async () => {
  const { walletId } = await world.openWallet();
  const request = requestOf(world.orgId, charge(walletId, 1_000), randomUUID());
  const answers = await Promise.all(
    Array.from({ length: 50 }, (_, index) => world.app(index % 2 === 0 ? 0 : 1).execute(request)),
  );
  expect(answers.filter(({ replayed }) => !replayed)).toHaveLength(1);
  expect(new Set(answers.map(chargeIdOf)).size).toBe(1);
  expect(new Set(answers.map(({ outcome }) => JSON.stringify(outcome, asText))).size).toBe(1);
  expect(await world.balances(walletId)).toEqual([1_000]);
}, 60_000);

test("a key pays once although payment's whole database is replaced by an empty one between two attempts", async () => {
  const { walletId } = await world.openWallet();
  const key = randomUUID();
  const first = await world.execute(charge(walletId, 1_000), key);
  await world.loseDatabase();
  expect(await world.execute(charge(walletId, 1_000), key)).toEqual({ ...first, replayed: true });
  expect(await world.balances(walletId)).toEqual([1_000]);
  const { chargeId: id } = valueOf(first, "charge");
  expect((await world.app().getCharge({ orgId: world.orgId, id })).charge.chargeId).toBe(id);
}, 60_000);

test("a key with another body is REQ_003, and the same key of another command is another key", async () => {
  const { walletId, chargeId } = await world.openWallet({ amountWon: 5_000 });
  const key = randomUUID();
  await world.execute(charge(walletId, 1_000), key);
  expect(await codeOf(world.execute(charge(walletId, 1_001), key))).toBe("REQ_003");
  valueOf(await world.execute(cancelCharge(chargeId, 500), key), "cancelledCharge");
  expect(await world.balances(walletId)).toEqual([5_500]);
});

test("a refusal is replayed although the balance would suffice later", async () => {
  const [from, to] = [await world.openWallet(), await world.openWallet()];
  const key = randomUUID();
  const move = transfer(from.walletId, to.address, 1_000);
  const refused = await world.execute(move, key);
  expect(valueOf(refused, "error").code).toBe("TRF_001");
  expect(refused.replayed).toBe(false);
  await world.execute(charge(from.walletId, 5_000));
  const again = await world.execute(move, key);
  expect([again.replayed, valueOf(again, "error").code]).toEqual([true, "TRF_001"]);
  const detailsOf = (answer: ExecuteResponse) => JSON.parse(valueOf(answer, "error").detailsJson!) as object;
  expect(detailsOf(again)).toEqual(detailsOf(refused));
  expect(detailsOf(again)).toEqual({ available: 0, required: 1_000 });
  expect(await world.balances(from.walletId)).toEqual([5_000]);
});

test("commands without a key have one effect each", async () => {
  const { walletId } = await world.openWallet();
  const answers = [
    await world.execute(charge(walletId, 1_000)),
    await world.execute(charge(walletId, 1_000)),
  ];
  expect(new Set(answers.map(chargeIdOf)).size).toBe(2);
  expect(await world.balances(walletId)).toEqual([2_000]);
});

test("repeat_only replays the stored outcome of a key and is WAUTH_004 for an unused key", async () => {
  const { walletId } = await world.openWallet();
  const repeat = (command: Command, key?: string) =>
    world.app().execute({ ...requestOf(world.orgId, command, key), repeatOnly: true });
  const key = randomUUID();
  for (const unused of [key, undefined])
    expect(await codeOf(repeat(charge(walletId, 1_000), unused))).toBe("WAUTH_004");
  const first = await world.execute(charge(walletId, 1_000), key);
  expect(await repeat(charge(walletId, 1_000), key)).toEqual({ ...first, replayed: true });
  expect(await codeOf(repeat(charge(walletId, 2_000), key))).toBe("REQ_003");
  expect(await world.balances(walletId)).toEqual([1_000]);
});

test("a scheduled transfer keeps its id and its keys are apart from partners' keys", async () => {
  const [from, to] = [await world.openWallet({ amountWon: 5_000 }), await world.openWallet()];
  const recordId = newId("txn");
  const command = transfer(from.walletId, to.address, 1_000);
  const operationId = idAt("trf", Date.now() - 60_000, recordId);
  const scheduled: ExecuteRequest = { ...requestOf(world.orgId, command, recordId), operationId };
  const first = await world.app().execute(scheduled);
  expect(valueOf(first, "transfer").transferId).toBe(operationId);
  expect(await world.app(1).execute(scheduled)).toEqual({ ...first, replayed: true });
  const partners = await world.execute(command, recordId);
  expect(partners.replayed).toBe(false);
  expect(await world.balances(from.walletId, to.walletId)).toEqual([3_000, 2_000]);
});

test("an operation id of another kind is refused and changes nothing", async () => {
  const { walletId } = await world.openWallet();
  const before = (await readJournal(world)).length;
  const request = { ...requestOf(world.orgId, charge(walletId, 1_000), "once"), operationId: newId("trf") };
  expect(await codeOf(world.app().execute(request))).toBe("REQ_001");
  expect(await readJournal(world)).toHaveLength(before);
});

async function codeOf(work: Promise<ExecuteResponse>): Promise<string> {
  return work.then(
    (answer) => valueOf(answer, "error").code,
    (error: unknown) => (error as { code: string }).code,
  );
}

function asText(_key: string, value: unknown): unknown {
  return typeof value === "bigint" ? value.toString() : value;
}
