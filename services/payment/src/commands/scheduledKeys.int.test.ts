import { createHash } from "node:crypto";
import { sql } from "@wonrail/kit/db";
import { idAt, idToUuid, newId } from "@wonrail/kit/contract/ids";
import { type ExecuteRequest, type ExecuteResponse } from "@wonrail/proto/payment/v1/payment";
import { claimKeys } from "./claimKeys";
import {
  type Command,
  complete,
  openWorld,
  requestOf,
  type TestWallet,
  valueOf,
  type World,
} from "./testing/world";

// A scheduled record is paid once, whatever its owner does under its id, and whichever releases of chain-relayer and payment try it.

let world: World;
let payer: TestWallet;
let shop: TestWallet;

beforeAll(async () => {
  world = await openWorld();
}, 60_000);
afterAll(() => world.close());
beforeEach(async () => {
  [payer, shop] = [await world.openWallet({ amountWon: 10_000 }), await world.openWallet()];
});

test("what its owner has done under its id before does not stop it", async () => {
  const recordId = newId("txn");
  const own = await world.execute(transferOf(300), recordId);
  const ran = valueOf(await run(ofRelayer(recordId)), "transfer");
  expect(ran.transferId).not.toBe(valueOf(own, "transfer").transferId);
  expect(await world.execute(transferOf(300), recordId)).toEqual({ ...own, replayed: true });
  expect(await run(ofRelayer(recordId))).toMatchObject({ replayed: true });
  expect(await world.balances(payer.walletId, shop.walletId)).toEqual([8_700, 1_300]);
});

test("one that was refused can be paid by hand under its id", async () => {
  const recordId = newId("txn");
  expect(valueOf(await run(ofRelayer(recordId, 20_000)), "error").code).toBe("TRF_001");
  valueOf(await world.execute(transferOf(20_000 / 4), recordId), "transfer");
  expect(valueOf(await run(ofRelayer(recordId, 20_000)), "error").code).toBe("TRF_001");
  expect(await world.balances(payer.walletId, shop.walletId)).toEqual([5_000, 5_000]);
});

test("one that the release before has taken on goes on under the key that it had there", async () => {
  const recordId = newId("txn");
  const request = ofRelayer(recordId);
  await claimAsBefore(request);
  const ran = await run(request);
  expect(valueOf(ran, "transfer").transferId).toBe(request.operationId);
  await complete(world);
  expect(await run(request)).toEqual({ ...ran, replayed: true });
  expect(await keysOf(request)).toEqual([recordId]);
  expect(await sentBy(payer)).toEqual([request.operationId]);
  expect(await world.balances(payer.walletId, shop.walletId)).toEqual([9_000, 1_000]);
});

test("one that was taken on here is not taken on by the release before", async () => {
  const request = ofRelayer(newId("txn"));
  await run(request);
  await expect(claimAsBefore(request)).rejects.toThrow("operations_pkey");
  // Chain-relayer of a release that gives no operation id gets what was done.
  expect(await run({ ...request, operationId: undefined })).toMatchObject({ replayed: true });
  expect(await sentBy(payer)).toEqual([request.operationId]);
  expect(await world.balances(payer.walletId, shop.walletId)).toEqual([9_000, 1_000]);
});

test("of both releases at the same moment one takes it on, and all that ask again get its transfer", async () => {
  const requests = Array.from({ length: 20 }, () => ofRelayer(newId("txn"), 100));
  await Promise.all(requests.flatMap((request) => [claimAsBefore(request), run(request)].map(settled)));
  await complete(world);
  for (const request of requests) {
    const ran = await run(request);
    expect(valueOf(ran, "transfer").transferId).toBe(request.operationId);
    expect(ran.replayed).toBe(true);
  }
  expect(await sentBy(payer)).toEqual(requests.map(({ operationId }) => operationId).sort());
  expect(await world.balances(payer.walletId, shop.walletId)).toEqual([8_000, 2_000]);
  expect(await world.violations()).toEqual([]);
});

function transferOf(amountWon: number): Command {
  const value = { fromWalletId: payer.walletId, toWalletAddress: shop.address, amountWon: String(amountWon) };
  return { $case: "transfer", value: { ...value, memo: undefined } };
}

function ofRelayer(recordId: string, amountWon = 1_000): ExecuteRequest {
  return {
    ...requestOf(world.orgId, transferOf(amountWon), recordId),
    operationId: idAt("trf", Date.now(), recordId),
    bodyHash: createHash("sha256")
      .update(JSON.stringify([recordId]))
      .digest(),
  };
}

function run(request: ExecuteRequest): Promise<ExecuteResponse> {
  return world.app().execute(request);
}

/** The key as it comes, and the id that comes with it. */
async function claimAsBefore({ context, operationId, idempotencyKey, bodyHash, command }: ExecuteRequest) {
  if (command?.$case !== "transfer") throw new Error("is no transfer");
  const { fromWalletId, toWalletAddress: toAddress, amountWon } = command.value;
  const limits = { toWalletId: shop.walletId, dailyLimitWon: "5000000", memo: null };
  const [outcome] = await claimKeys(world.payment.db, [
    {
      ...{ orgId: context!.orgId, requestId: context!.requestId, traceparent: "" },
      ...{ operationId: operationId!, idempotencyKey: idempotencyKey!, bodyHash: Buffer.from(bodyHash) },
      input: { kind: "TRANSFER", fromWalletId, toAddress, amountWon, ...limits },
    },
  ]);
  if (!outcome!.ok) throw outcome!.error;
}

async function keysOf({ operationId }: ExecuteRequest): Promise<string[]> {
  const rows = await world.payment.db.query<{ idempotency_key: string }>(
    sql`select idempotency_key from operations where operation_id = ${operationId!}`,
  );
  return rows.map((row) => row.idempotency_key);
}

/** The ledger's entries that took something from the payer, by the request that each was made for. */
async function sentBy({ walletId }: TestWallet): Promise<string[]> {
  const rows = await world.databases.ledger.db.query<{ id: string }>(sql`
    select 'trf_' || replace(e.id::text, '-', '') as id from entries e
    join accounts a on a.org_id = e.org_id and a.number = any(e.account_numbers)
    where a.id = ${idToUuid(walletId)} and e.request_prefix = 'trf' order by e.id`);
  return rows.map(({ id }) => id);
}

function settled(work: Promise<unknown>): Promise<unknown> {
  return work.catch(() => undefined);
}
