import { createHash } from "node:crypto";
import { rawSql } from "@wonrail/kit/db";
import { idAt, newId } from "@wonrail/kit/contract/ids";
import { type ExecuteRequest } from "@wonrail/proto/payment/v1/payment";
import { openOldWorld, type OldWorld } from "./testing/oldMonths";
import { asOwner, complete, requestOf, type TestWallet, valueOf, type World } from "./testing/world";

// A scheduled transfer that is run when the month of its time has left the ledger's journal, which never takes the one id that it has.

const DAY_MS = 24 * 3_600_000;

let world: World;
let oldMs: number;
let detach: OldWorld["monthLeaves"];
let payer: TestWallet;
let shop: TestWallet;

beforeEach(async () => {
  ({ world, oldMs, monthLeaves: detach } = await openOldWorld());
  [payer, shop] = [await world.openWallet({ amountWon: 10_000 }), await world.openWallet()];
}, 60_000);
afterEach(() => world.close());

/** And the ledger's processes know of it. */
async function monthLeaves(): Promise<void> {
  await detach();
  await world.crash();
}

test("one that was never begun is refused, for everybody who asks, and for good", async () => {
  await monthLeaves();
  const request = ofRelayer(oldMs);
  const asked = await Promise.all([run(request), run(request), run(request)]);
  for (const answer of [...asked, await run(request)])
    expect(valueOf(answer, "error")).toMatchObject(TOO_LATE);
  expect(await states()).toEqual(["REFUSED"]);
  expect(await world.balances(payer.walletId, shop.walletId)).toEqual([10_000, 0]);
}, 60_000);

test("one that was left open, and never posted, is refused by the completer", async () => {
  await world.stop("ledger");
  const request = ofRelayer(oldMs);
  await expect(run(request)).rejects.toMatchObject({ code: "SYS_002" });
  await asOwner(world.payment, "update operations set state = 'CLAIMED' where state = 'RELEASED'");
  await monthLeaves();
  await complete(world);
  expect(await states()).toEqual(["REFUSED"]);
  expect(valueOf(await run(request), "error")).toMatchObject(TOO_LATE);
  expect(await world.balances(payer.walletId, shop.walletId)).toEqual([10_000, 0]);
}, 60_000);

test("one that was posted is not refused, also when nobody here knows of it any more", async () => {
  const request = ofRelayer(oldMs);
  valueOf(await run(request), "transfer");
  // As in a database that another took over from without its last commits.
  await asOwner(world.payment, "delete from operations where kind = 'TRANSFER'");
  await asOwner(world.payment, "delete from transfers");
  await monthLeaves();
  await staysOpen(request);
  expect(await world.balances(payer.walletId, shop.walletId)).toEqual([9_000, 1_000]);
}, 60_000);

test("one of a month that is nowhere is not refused, since nobody can say", async () => {
  await staysOpen(ofRelayer(oldMs - 400 * DAY_MS));
}, 60_000);

test("one of a month that the journal does not have yet is not refused: it may still be done", async () => {
  await staysOpen(ofRelayer(Date.now() + 400 * DAY_MS));
}, 60_000);

const TOO_LATE = { code: "REQ_001", detailsJson: expect.stringContaining('"operationId"') };

async function staysOpen(request: ExecuteRequest): Promise<void> {
  await expect(run(request)).rejects.toMatchObject({ code: "SYS_003" });
  await complete(world);
  await expect(run(request)).rejects.toMatchObject({ code: "SYS_003" });
  expect(await states()).toEqual(["CLAIMED"]);
}

/** As chain-relayer asks for a transfer that was scheduled for this time. */
function ofRelayer(scheduledMs: number): ExecuteRequest {
  const recordId = newId("txn");
  const value = { fromWalletId: payer.walletId, toWalletAddress: shop.address, amountWon: "1000" };
  return {
    ...requestOf(world.orgId, { $case: "transfer", value: { ...value, memo: undefined } }, recordId),
    operationId: idAt("trf", scheduledMs, recordId),
    bodyHash: createHash("sha256").update(recordId).digest(),
  };
}

function run(request: ExecuteRequest) {
  return world.app().execute(request);
}

async function states(): Promise<string[]> {
  const rows = await world.payment.db.query<{ state: string }>(
    rawSql("select state from operations where kind = 'TRANSFER'"),
  );
  return rows.map(({ state }) => state);
}
