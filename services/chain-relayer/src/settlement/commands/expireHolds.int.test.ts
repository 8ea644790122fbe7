import { sql, tx } from "@wonrail/kit/db";
import { newId } from "@wonrail/kit/contract/ids";
import { OperationFailed } from "@wonrail/proto/relayer/events/v1/events";
import { managerAbi, tokenAbi } from "../../evm/contracts";
import { type NewOperation } from "../store/operations";
import { savePaymentManager } from "../../indexer/store/paymentManagers";
import { rewindCursor } from "../../indexer/store/scanCursor";
import { saveUsedAuthorizations } from "../../indexer/store/usedAuthorizations";
import { saveWalletAddresses } from "../../indexer/store/walletAddresses";
import { acquireLease } from "../../sender/store/transactions";
import { listPlannedOperations } from "../store/plannedOperations";
import { planOperations } from "./planOperations";
import { expireHolds } from "./expireHolds";
import { scanFinalized } from "../../indexer/commands/scanFinalized";
import {
  blockHashOf,
  createChainDouble,
  cursorAt,
  depsOn,
  OPERATOR,
  PAYMENT_MANAGER,
  TOKEN,
} from "../../testing/chainDouble";
import { freshDatabase } from "../../testing/database";
import {
  signWaitingOperations,
  holdOf,
  operationOf,
  statesOf,
  ingestOperations,
  ingestExpiredHold,
} from "../../testing/operations";

const database = freshDatabase();
const { signal } = new AbortController();
/** After every end of these tests. */
const LATE = 4_000_000_000n;

test("a hold expires only while the chain's final block equals the ingested one", async () => {
  const hold = await expiredHold();
  const chain = createChainDouble();
  const deps = depsOn(database.db, chain);
  chain.replacedFrom = 990n;
  await expect(expireHolds(deps, signal)).rejects.toThrow("block 1000 was final as");
  expect(await statesOf(database.db, [hold])).toEqual(["PLANNED AccountBlocked"]);
  expect(await replaced(deps)).toBe(1);

  chain.replacedFrom = null;
  await expireHolds(deps, signal);
  expect(await statesOf(database.db, [hold])).toEqual(["FAILED AccountBlocked"]);
  expect(await replaced(deps)).toBe(0);
});

test("a hold does not expire when its final block is replaced during the look-up", async () => {
  const hold = await expiredHold();
  const chain = createChainDouble();
  const { callAt } = chain.provider;
  chain.provider.callAt = (...asked) => {
    chain.replacedFrom = 990n;
    return callAt(...asked);
  };
  await expect(expireHolds(depsOn(database.db, chain), signal)).rejects.toThrow("block 1000 was final as");
  expect(await statesOf(database.db, [hold])).toEqual(["PLANNED AccountBlocked"]);
});

test.each(["authorizationState", "isExecuted"])(
  "a hold is not given up when the final block's %s contradicts it, and no event of it was ingested",
  async (question) => {
    const hold = await expiredHold();
    const chain = createChainDouble();
    const { callAt } = chain.provider;
    const asks = (tokenAbi.getFunction(question) ?? managerAbi.getFunction(question))!.selector;
    chain.provider.callAt = async (to, data, ...at) =>
      data.startsWith(asks) ? "0x1" : callAt(to, data, ...at);
    await expireHolds(depsOn(database.db, chain), signal);
    expect(await statesOf(database.db, [hold])).toEqual(["PLANNED AccountBlocked"]);
  },
);

test("a hold does not expire when any earlier payment manager has executed it", async () => {
  const hold = await expiredHold();
  await tx(database.db, (tx) => savePaymentManager(tx, `0x${"6".repeat(40)}`));
  const chain = createChainDouble();
  const { callAt } = chain.provider;
  const asks = managerAbi.getFunction("isExecuted")!.selector;
  chain.provider.callAt = async (to, data, ...at) =>
    data.startsWith(asks) && to === PAYMENT_MANAGER ? "0x1" : callAt(to, data, ...at);
  await expireHolds(depsOn(database.db, chain), signal);
  expect(await statesOf(database.db, [hold])).toEqual(["PLANNED AccountBlocked"]);
});

test("holds are not looked up during a rescan", async () => {
  const hold = await expiredHold();
  const before = { blockNumber: 900n, blockHash: blockHashOf(900n), blockTime: 4_000_000_000n };
  await tx(database.db, (tx) => rewindCursor(tx, before));
  const chain = createChainDouble();
  chain.provider.callAt = () => Promise.reject(new Error("nobody asks"));
  await expireHolds(depsOn(database.db, chain), signal);
  expect(await statesOf(database.db, [hold])).toEqual(["PLANNED AccountBlocked"]);
});

test("a hold that is sent during its look-up expires, with a single event", async () => {
  const hold = await expiredHold();
  const chain = createChainDouble();
  const { callAt } = chain.provider;
  chain.provider.callAt = async (...asked) => {
    await database.db.run(sql`update operations set state = 'IN_FLIGHT' where state = 'PLANNED'`);
    return callAt(...asked);
  };
  const deps = depsOn(database.db, chain);
  await expireHolds(deps, signal);
  await expireHolds(deps, signal);
  expect(await statesOf(database.db, [hold])).toEqual(["FAILED AccountBlocked"]);
  expect((await eventsOf()).map(({ type }) => type)).toEqual(["operation_failed"]);
});

test("a hold does not expire while an unmined transaction carries it", async () => {
  const { db } = database;
  const hold = holdOf();
  await ingestOperations(db, [hold]);
  await signWaitingOperations(db, OPERATOR, { nonce: 0n });
  await db.run(sql`update operations set expires_at = now() - interval '1 second'`);
  await cursorAt(db, 1_000n, LATE);
  await expireHolds(depsOn(db, createChainDouble()), signal);
  expect(await statesOf(db, [hold])).toEqual(["IN_FLIGHT"]);
});

test.each([
  "EnforcedPause",
  "batch_reverted",
  "signer_out_of_gas",
  "fee_above_cap",
  "operator_role_missing",
  "custody_over_global_limit",
  "custody_signed_otherwise",
])("a hold that waits for %s never fails", async (reason) => {
  const { db } = database;
  const hold = holdOf();
  await ingestExpiredHold(db, hold, { reason });
  await cursorAt(db, 1_000n, LATE);
  await expireHolds(depsOn(db, createChainDouble()), signal);
  expect(await statesOf(db, [hold])).toEqual([`PLANNED ${reason}`]);
  // It is sent again although its clock has run out.
  expect(await listPlannedOperations(db, 10)).toHaveLength(1);
});

test("a hold's clock starts when everything before it on its wallet has settled", async () => {
  const { db } = database;
  const hold = holdOf();
  const walletId = hold.steps[0]!.fromWalletId!;
  const charge = operationOf(newId("wal"), { wallets: [walletId] });
  const mint = {
    ...charge.steps[0]!,
    kind: "MINT" as const,
    fromWalletId: null,
    toWalletId: walletId,
    nonce: "",
  };
  await ingestOperations(db, [{ ...charge, steps: [mint] }]);
  await planOperations(db, (await acquireLease(db, OPERATOR.address, "this process", 60_000))!);
  await ingestExpiredHold(db, hold);
  await db.run(sql`update operations set expires_at = null`);
  await addressOf(hold);
  await cursorAt(db, 1_000n, LATE);
  const deps = { ...depsOn(db, createChainDouble()), outsideLifeMs: 0 };
  await expireHolds(deps, signal);
  await expireHolds(deps, signal);
  expect(await statesOf(db, [hold])).toEqual(["PLANNED AccountBlocked"]);
  await db.run(sql`
    update operations set state = 'CONFIRMED', tx_hash = '0x1', block_hash = '0x1' where ledger_ref = ${charge.ledgerRef}`);
  await expireHolds(deps, signal);
  await expireHolds(deps, signal);
  expect(await statesOf(db, [hold])).toEqual(["FAILED AccountBlocked"]);
});

test("a hold does not fail while its money waits behind a block two wallets upstream", async () => {
  const { db } = database;
  const [blocked, payee] = [newId("wal"), newId("wal")];
  const hold = holdOf();
  const walletId = hold.steps[0]!.fromWalletId!;
  const paying = (from: string, to: string) => {
    const operation = operationOf(from, { wallets: [from, to] });
    return { ...operation, steps: operation.steps.map((step) => ({ ...step, toWalletId: to })) };
  };
  const chain = [paying(blocked, payee), paying(payee, walletId)];
  await ingestOperations(db, chain);
  await planOperations(db, (await acquireLease(db, OPERATOR.address, "this process", 60_000))!);
  await ingestExpiredHold(db, hold, { reason: "ERC20InsufficientBalance" });
  await db.run(sql`update operations set expires_at = null`);
  const refusedFor = (reason: string, { ledgerRef }: NewOperation) =>
    db.run(sql`update operations set attempts = 1, wait_reason = ${reason} where ledger_ref = ${ledgerRef}`);
  await refusedFor("AccountBlocked", chain[0]!);
  await refusedFor("ERC20InsufficientBalance", chain[1]!);
  await addressOf(hold);
  await cursorAt(db, 1_000n, LATE);
  const deps = { ...depsOn(db, createChainDouble()), outsideLifeMs: 0 };
  for (let round = 0; round < 3; round += 1) await expireHolds(deps, signal);
  expect(await statesOf(db, [hold])).toEqual(["PLANNED ERC20InsufficientBalance"]);
});

test("a hold does not fail before the latest end that custody has signed for it", async () => {
  const hold = await expiredHold();
  let latestValidBefore = LATE;
  const { wallet, ...rest } = depsOn(database.db, createChainDouble());
  const getLatestAuthorization = () => Promise.resolve({ latestValidBefore });
  const deps = { ...rest, wallet: { ...wallet, getLatestAuthorization } };
  await expireHolds(deps, signal);
  expect(await statesOf(database.db, [hold])).toEqual(["PLANNED AccountBlocked"]);
  latestValidBefore = LATE - 1n;
  await expireHolds(deps, signal);
  expect(await statesOf(database.db, [hold])).toEqual(["FAILED AccountBlocked"]);
});

test("a hold whose authorization a stranger used is settled, even after its end", async () => {
  const hold = await expiredHold();
  const [{ fromWalletId, nonce }] = hold.steps as [NewOperation["steps"][0]];
  const used = {
    fromWalletId: fromWalletId!,
    nonce,
    txHash: "0x9",
    blockNumber: 9n,
    blockHash: "0x99",
    moved: null,
  };
  await tx(database.db, (tx) => saveUsedAuthorizations(tx, [used]));
  await expireHolds(depsOn(database.db, createChainDouble()), signal);
  expect(await statesOf(database.db, [hold])).toEqual(["CONFIRMED"]);
  expect((await eventsOf()).map(({ type }) => type)).toEqual(["operations_confirmed"]);
});

test("a hold with a cancelled authorization expires, although the token calls it used", async () => {
  const hold = await expiredHold();
  await cursorAt(database.db, 995n);
  const chain = createChainDouble();
  const { callAt } = chain.provider;
  const asks = tokenAbi.getFunction("authorizationState")!.selector;
  chain.provider.callAt = async (to, data, ...at) =>
    data.startsWith(asks) ? "0x1" : callAt(to, data, ...at);
  const deps = depsOn(database.db, chain);
  await expireHolds(deps, signal);
  expect(await statesOf(database.db, [hold])).toEqual(["PLANNED AccountBlocked"]);
  const eventLog = tokenAbi.encodeEventLog("AuthorizationCanceled", [
    `0x${"5".repeat(40)}`,
    `0x${hold.steps[0]!.nonce}`,
  ]);
  const place = { blockNumber: 998n, blockHash: blockHashOf(998n), txHash: "0x77", logIndex: 0 };
  chain.logs = [{ address: TOKEN, ...eventLog, ...place }];
  while (await scanFinalized(deps));
  await expireHolds(deps, signal);
  expect(await statesOf(database.db, [hold])).toEqual(["FAILED AccountBlocked"]);
});

test("later expired holds are looked up although many look-ups fail", async () => {
  const vain = Array.from({ length: 100 }, () => holdOf());
  for (const [number, hold] of vain.entries())
    await ingestExpiredHold(database.db, hold, { expiresAt: new Date(Date.now() - 60_000 + number) });
  await saveWalletAddresses(
    database.db,
    vain.map(({ orgId, steps }, number) => ({
      ...{ orgId, walletId: steps[0]!.fromWalletId! },
      address: `0x${number.toString(16).padStart(40, "0")}`,
    })),
  );
  const hold = await expiredHold();
  const chain = createChainDouble();
  chain.provider.callAt = async (to, data) =>
    to === TOKEN && !data.includes("5".repeat(40)) ? "0x1" : "0x0";
  const deps = depsOn(database.db, chain);
  await expireHolds(deps, signal);
  expect(await statesOf(database.db, [hold])).toEqual(["PLANNED AccountBlocked"]);
  await expireHolds(deps, signal);
  expect(await statesOf(database.db, [hold])).toEqual(["FAILED AccountBlocked"]);
  // Then other holds have their turn.
  chain.provider.callAt = async () => "0x0";
  await expireHolds(deps, signal);
  expect(new Set(await statesOf(database.db, vain))).toEqual(new Set(["FAILED AccountBlocked"]));
});

test("a hold of a wallet that custody does not know expires, because no signature can exist", async () => {
  const hold = await expiredHold();
  await database.db.run(sql`delete from wallet_addresses`);
  await expireHolds(depsOn(database.db, createChainDouble()), signal);
  expect(await statesOf(database.db, [hold])).toEqual(["FAILED AccountBlocked"]);
});

test("the event of an expired hold carries its wait reason and the proving block", async () => {
  const hold = await expiredHold();
  await expireHolds(depsOn(database.db, createChainDouble()), signal);
  const [event] = await eventsOf();
  const failed = OperationFailed.decode(event!.payload);
  expect(failed).toMatchObject({ reason: "AccountBlocked", ledgerRef: hold.ledgerRef });
});

test("the chain is not asked while no hold has expired", async () => {
  await cursorAt(database.db, 1_000n, 4_000_000_000n);
  const chain = createChainDouble();
  chain.replacedFrom = 990n;
  await expireHolds(depsOn(database.db, chain), signal);
});

test("a stopping process expires no more holds, and the next process expires the rest", async () => {
  const holds = [await expiredHold(), await expiredHold(), await expiredHold()];
  const chain = createChainDouble();
  const [stop, ending] = [new AbortController(), new Error("it is to end")];
  const { block } = chain.provider;
  let looks = 0;
  chain.provider.block = (number) => {
    // The first look comes before all holds, and each further one before a hold expires.
    if ((looks += 1) === 2) stop.abort(ending);
    return block(number);
  };
  await expect(expireHolds(depsOn(database.db, chain), stop.signal)).rejects.toBe(ending);
  expect((await statesOf(database.db, holds)).sort()).toEqual([
    "FAILED AccountBlocked",
    ...["PLANNED AccountBlocked", "PLANNED AccountBlocked"],
  ]);
  await expireHolds(depsOn(database.db, chain), signal);
  expect(await statesOf(database.db, holds)).toEqual(Array(3).fill("FAILED AccountBlocked"));
});

/** A hold with a known wallet address, and a final block after its end. */
async function expiredHold(): Promise<NewOperation> {
  const hold = holdOf();
  await ingestExpiredHold(database.db, hold);
  await addressOf(hold);
  await cursorAt(database.db, 1_000n, LATE);
  return hold;
}

async function addressOf({ orgId, steps }: NewOperation): Promise<void> {
  const address = `0x${"5".repeat(40)}`;
  await saveWalletAddresses(database.db, [{ walletId: steps[0]!.fromWalletId!, orgId, address }]);
}

function eventsOf(): Promise<{ type: string; payload: Buffer }[]> {
  return database.db.query(sql`select type, payload from outbox`);
}

async function replaced({ gauges }: ReturnType<typeof depsOn>): Promise<number | undefined> {
  return (await gauges.replaced.get()).values[0]?.value;
}
