import { sql, tx } from "@wonrail/kit/db";
import { newId } from "@wonrail/kit/contract/ids";
import { OperationFailed } from "@wonrail/proto/relayer/events/v1/events";
import { managerAbi, tokenAbi } from "../../evm/contracts";
import { type NewOperation } from "../store/operations";
import { takeIntoUse } from "../../indexer/store/paymentManagers";
import { rewindCursor } from "../../indexer/store/scanCursor";
import { saveUsedAuthorizations } from "../../indexer/store/usedAuthorizations";
import { saveWalletAddresses } from "../../indexer/store/walletAddresses";
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
import { executionOf } from "../../testing/executions";
import { carry, operationOf, statesOf, takeIn, transactionStates } from "../../testing/operations";

const database = freshDatabase();
const { signal } = new AbortController();

test("a hold is not given up on another chain than was taken in, and is once the chain is that one again", async () => {
  const hold = await takeInExpired();
  const chain = createChainDouble();
  const deps = depsOn(database.db, chain);
  chain.replacedFrom = 990n;
  await expect(expireHolds(deps, signal)).rejects.toThrow("block 1000 was final as");
  expect(await statesOf(database.db, [hold])).toEqual(["WAITING"]);
  expect(await replaced(deps)).toBe(1);

  chain.replacedFrom = null;
  await expireHolds(deps, signal);
  expect(await statesOf(database.db, [hold])).toEqual(["FAILED"]);
  expect(await replaced(deps)).toBe(0);
});

test("a hold is not given up when its final block is replaced while the chain is asked about it", async () => {
  const hold = await takeInExpired();
  const chain = createChainDouble();
  const { callAt } = chain.provider;
  chain.provider.callAt = (...asked) => {
    chain.replacedFrom = 990n;
    return callAt(...asked);
  };
  await expect(expireHolds(depsOn(database.db, chain), signal)).rejects.toThrow("block 1000 was final as");
  expect(await statesOf(database.db, [hold])).toEqual(["WAITING"]);
});

test.each(["authorizationState", "isExecuted"])(
  "a hold is not given up while the final block's %s speaks against it, though no event of it was taken in",
  async (question) => {
    const hold = await takeInExpired();
    const chain = createChainDouble();
    const { callAt } = chain.provider;
    const asks = (tokenAbi.getFunction(question) ?? managerAbi.getFunction(question))!.selector;
    chain.provider.callAt = async (to, data, ...at) =>
      data.startsWith(asks) ? "0x1" : callAt(to, data, ...at);
    await expireHolds(depsOn(database.db, chain), signal);
    expect(await statesOf(database.db, [hold])).toEqual(["WAITING"]);
  },
);

test("a hold is not given up while one of all payment managers that were ever in use has executed it", async () => {
  const hold = await takeInExpired();
  await tx(database.db, (tx) => takeIntoUse(tx, `0x${"6".repeat(40)}`));
  const chain = createChainDouble();
  const { callAt } = chain.provider;
  const asks = managerAbi.getFunction("isExecuted")!.selector;
  chain.provider.callAt = async (to, data, ...at) =>
    data.startsWith(asks) && to === PAYMENT_MANAGER ? "0x1" : callAt(to, data, ...at);
  await expireHolds(depsOn(database.db, chain), signal);
  expect(await statesOf(database.db, [hold])).toEqual(["WAITING"]);
});

test("while blocks are taken in again the chain is not asked about holds as it was before", async () => {
  const hold = await takeInExpired();
  const before = { blockNumber: 900n, blockHash: blockHashOf(900n), blockTime: 4_000_000_000n };
  await tx(database.db, (tx) => rewindCursor(tx, before));
  const chain = createChainDouble();
  chain.provider.callAt = () => Promise.reject(new Error("nobody asks"));
  await expireHolds(depsOn(database.db, chain), signal);
  expect(await statesOf(database.db, [hold])).toEqual(["WAITING"]);
});

test("a hold that goes out while the chain is asked about it is given up all the same, and that is told once", async () => {
  const hold = await takeInExpired();
  const chain = createChainDouble();
  const { callAt } = chain.provider;
  chain.provider.callAt = async (...asked) => {
    await database.db.run(sql`update operations set state = 'IN_FLIGHT' where state = 'WAITING'`);
    return callAt(...asked);
  };
  const deps = depsOn(database.db, chain);
  await expireHolds(deps, signal);
  await expireHolds(deps, signal);
  expect(await statesOf(database.db, [hold])).toEqual(["FAILED"]);
  expect((await eventsOf()).map(({ type }) => type)).toEqual(["operation_failed"]);
});

test("a hold in a transaction that no block takes is given up, and nothing that the transaction does later changes that", async () => {
  const { db } = database;
  const [hold, beside] = [holdUntil(Date.now() + 60_000), operationOf()];
  await takeIn(db, [hold, beside]);
  const txHash = await carry(db, OPERATOR, { nonce: 0n });
  await cursorAt(db, 945n, 4_000_000_000n);
  await db.run(
    sql`update operations set expires_at = now() - interval '1 second' where expires_at is not null`,
  );
  const chain = createChainDouble();
  const deps = depsOn(db, chain);
  await expireHolds(deps, signal);
  expect(await statesOf(db, [hold, beside])).toEqual(["FAILED", "IN_FLIGHT"]);

  // The fees have come down. Of an authorization whose time is over the contract does nothing.
  const place = { blockNumber: 950n, blockHash: blockHashOf(950n), txHash, logIndex: 0 };
  const said = managerAbi.encodeEventLog("OperationFailed", [
    `0x${hold.operationId}`,
    tokenAbi.encodeErrorResult("ERC3009InvalidAuthorizationTime", [0n, 1n]),
  ]);
  chain.logs = [
    { address: PAYMENT_MANAGER, ...said, ...place },
    ...(await executionOf(db, beside, 950n, { txHash, firstIndex: 1 })),
  ];
  chain.receipts.set(txHash, { ...place, gasUsed: 2n, succeeded: true });
  chain.nonces.set(OPERATOR.address, 1n);
  while (await scanFinalized(deps));
  expect(await statesOf(db, [hold, beside])).toEqual(["FAILED", "CONFIRMED"]);
  expect(await transactionStates(db)).toEqual(["FINAL"]);
  await expireHolds(deps, signal);
  const told = (await eventsOf()).filter(({ type }) => type !== "operation_confirmed");
  expect(told.map(({ type }) => type)).toEqual(["operation_failed"]);
});

test("a hold whose authorization somebody else has used is settled by that, whatever its end", async () => {
  const hold = await takeInExpired();
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
  expect((await eventsOf()).map(({ type }) => type)).toEqual(["operation_confirmed"]);
});

test("a hold whose authorization was cancelled in a final block is given up, though the token calls it used", async () => {
  const hold = await takeInExpired();
  await cursorAt(database.db, 995n);
  const chain = createChainDouble();
  const { callAt } = chain.provider;
  const asks = tokenAbi.getFunction("authorizationState")!.selector;
  chain.provider.callAt = async (to, data, ...at) =>
    data.startsWith(asks) ? "0x1" : callAt(to, data, ...at);
  const deps = depsOn(database.db, chain);
  await expireHolds(deps, signal);
  expect(await statesOf(database.db, [hold])).toEqual(["WAITING"]);
  const said = tokenAbi.encodeEventLog("AuthorizationCanceled", [
    `0x${"5".repeat(40)}`,
    `0x${hold.steps[0]!.nonce}`,
  ]);
  const place = { blockNumber: 998n, blockHash: blockHashOf(998n), txHash: "0x77", logIndex: 0 };
  chain.logs = [{ address: TOKEN, ...said, ...place }];
  while (await scanFinalized(deps));
  await expireHolds(deps, signal);
  expect(await statesOf(database.db, [hold])).toEqual(["FAILED"]);
});

test("however many are looked up in vain, those whose time was over later have their turn", async () => {
  const vain = Array.from({ length: 100 }, (_, number) => holdUntil(Date.now() - 60_000 + number));
  await takeIn(database.db, vain);
  await saveWalletAddresses(
    database.db,
    vain.map(({ orgId, steps }, number) => ({
      ...{ orgId, walletId: steps[0]!.fromWalletId! },
      address: `0x${number.toString(16).padStart(40, "0")}`,
    })),
  );
  const hold = await takeInExpired();
  const chain = createChainDouble();
  chain.provider.callAt = async (to, data) =>
    to === TOKEN && !data.includes("5".repeat(40)) ? "0x1" : "0x0";
  const deps = depsOn(database.db, chain);
  await expireHolds(deps, signal);
  expect(await statesOf(database.db, [hold])).toEqual(["WAITING"]);
  await expireHolds(deps, signal);
  expect(await statesOf(database.db, [hold])).toEqual(["FAILED"]);
  // Then it is the others' turn again.
  chain.provider.callAt = async () => "0x0";
  await expireHolds(deps, signal);
  expect(new Set(await statesOf(database.db, vain))).toEqual(new Set(["FAILED"]));
});

test("a hold of a wallet that custody does not know is given up: nothing can have been signed", async () => {
  const hold = await takeInExpired();
  await database.db.run(sql`delete from wallet_addresses`);
  await expireHolds(depsOn(database.db, createChainDouble()), signal);
  expect(await statesOf(database.db, [hold])).toEqual(["FAILED"]);
});

test("what is told of a hold that is given up is why it waited, with the block that proves it", async () => {
  const hold = await takeInExpired();
  await database.db.run(sql`update operations set wait_reason = 'AccountBlocked'`);
  await expireHolds(depsOn(database.db, createChainDouble()), signal);
  const [event] = await eventsOf();
  const failed = OperationFailed.decode(event!.payload);
  expect(failed).toMatchObject({ reason: "AccountBlocked", ledgerRef: hold.ledgerRef });
});

test("while no hold's time is over the chain is not asked", async () => {
  await cursorAt(database.db, 1_000n, 4_000_000_000n);
  const chain = createChainDouble();
  chain.replacedFrom = 990n;
  await expireHolds(depsOn(database.db, chain), signal);
});

test("a process that is to end gives up no more holds, and whoever comes next gives up the others", async () => {
  const holds = [await takeInExpired(), await takeInExpired(), await takeInExpired()];
  const chain = createChainDouble();
  const [stop, ending] = [new AbortController(), new Error("it is to end")];
  const { block } = chain.provider;
  let looks = 0;
  chain.provider.block = (number) => {
    // Before the first of them, and then before each is given up.
    if ((looks += 1) === 2) stop.abort(ending);
    return block(number);
  };
  await expect(expireHolds(depsOn(database.db, chain), stop.signal)).rejects.toBe(ending);
  expect((await statesOf(database.db, holds)).sort()).toEqual(["FAILED", "WAITING", "WAITING"]);
  await expireHolds(depsOn(database.db, chain), signal);
  expect(await statesOf(database.db, holds)).toEqual(["FAILED", "FAILED", "FAILED"]);
});

/** A hold of a wallet whose address is known, and a final block after its end. */
async function takeInExpired(): Promise<NewOperation> {
  const hold = holdUntil(Date.now() - 1_000);
  await takeIn(database.db, [hold]);
  const [{ fromWalletId }] = hold.steps as [NewOperation["steps"][0]];
  const address = `0x${"5".repeat(40)}`;
  await saveWalletAddresses(database.db, [{ walletId: fromWalletId!, orgId: hold.orgId, address }]);
  await cursorAt(database.db, 1_000n, 4_000_000_000n);
  return hold;
}

function holdUntil(endsAtMs: number): NewOperation {
  return operationOf(newId("wal"), {
    kind: "INTENT_KIND_PLACE_HOLD",
    expiresAt: new Date(endsAtMs),
  });
}

function eventsOf(): Promise<{ type: string; payload: Buffer }[]> {
  return database.db.query(sql`select type, payload from outbox`);
}

async function replaced({ gauges }: ReturnType<typeof depsOn>): Promise<number | undefined> {
  return (await gauges.replaced.get()).values[0]?.value;
}
