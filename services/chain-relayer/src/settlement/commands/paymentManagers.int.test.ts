import { testOperator } from "@wonrail/kit/testing";
import { tx } from "@wonrail/kit/db";
import { encodeToken } from "../../evm/contracts";
import { RpcRefusal } from "../../evm/rpc";
import { listPaymentManagers, savePaymentManager } from "../../indexer/store/paymentManagers";
import { rewindCursor } from "../../indexer/store/scanCursor";
import { adoptPaymentManager } from "./adoptPaymentManager";
import { dispatch } from "./dispatch";
import { assertPaymentManagerAdopted } from "./assertPaymentManagerAdopted";
import { scanFinalized } from "../../indexer/commands/scanFinalized";
import {
  blockHashOf,
  createChainDouble,
  cursorAt,
  depsOn,
  PAYMENT_MANAGER,
  TOKEN,
} from "../../testing/chainDouble";
import { executionOf } from "../../testing/executions";
import { freshDatabase } from "../../testing/database";
import { operationOf, statesOf, ingestOperations } from "../../testing/operations";

const NEXT = `0x${"aB".repeat(20)}`;
const word = (hex: string) => `0x${hex.slice(2).toLowerCase().padStart(64, "0")}`;

const database = freshDatabase();

test("a database accepts any payment manager before its first block, and only the adopted one afterwards", async () => {
  await assertPaymentManagerAdopted(database.db, NEXT);
  await assertPaymentManagerAdopted(database.db, PAYMENT_MANAGER);
  await cursorAt(database.db, 1n);
  await assertPaymentManagerAdopted(database.db, PAYMENT_MANAGER);
  await expect(assertPaymentManagerAdopted(database.db, NEXT)).rejects.toThrow(
    `settled through ${PAYMENT_MANAGER}`,
  );
  await use(NEXT);
  // Old pods may restart during the roll-out.
  await assertPaymentManagerAdopted(database.db, PAYMENT_MANAGER);
  await assertPaymentManagerAdopted(database.db, NEXT);
  expect(await listPaymentManagers(database.db)).toEqual([PAYMENT_MANAGER, NEXT.toLowerCase()]);
  await use(PAYMENT_MANAGER);
  expect(await listPaymentManagers(database.db)).toEqual([NEXT.toLowerCase(), PAYMENT_MANAGER]);
});

test("a replaced payment manager receives nothing new", async () => {
  const [chain, operation] = [createChainDouble(), operationOf()];
  await ingestOperations(database.db, [operation]);
  await use(NEXT);
  await dispatch(depsOn(database.db, chain), new AbortController().signal);
  expect(await statesOf(database.db, [operation])).toEqual(["PLANNED payment_manager_replaced"]);
  expect(chain.sent).toEqual([]);
});

test("events of the previous payment manager settle operations, also in a rescan", async () => {
  const [chain, operation] = [createChainDouble(), operationOf()];
  await ingestOperations(database.db, [operation]);
  await use(NEXT);
  chain.logs = await executionOf(database.db, operation, 950n);
  await cursorAt(database.db, 940n);
  while (await scanFinalized(depsOn(database.db, chain)));
  expect(await statesOf(database.db, [operation])).toEqual(["CONFIRMED"]);
});

describe("a new payment manager is adopted", () => {
  let allowance: string;
  let tokens: Map<string, string>;
  const provider = {
    callAt: async (to: string, data: string, at: bigint) => {
      expect(at).toBe(1_000n);
      if (data !== encodeToken()) return allowance;
      const token = tokens.get(to.toLowerCase());
      if (token === "reverts") throw new RpcRefusal(3, "execution reverted");
      return token ?? "0x";
    },
  };
  const adopt = (address: string) =>
    adoptPaymentManager({ db: database.db, provider }, address, testOperator());

  beforeEach(async () => {
    allowance = word("0x0");
    tokens = new Map([PAYMENT_MANAGER, NEXT.toLowerCase()].map((manager) => [manager, word(TOKEN)]));
    await cursorAt(database.db, 1_000n);
  });

  test("once, when earlier ones can mint nothing more", async () => {
    expect(await adopt(PAYMENT_MANAGER)).toBe("in_use");
    expect(await adopt(NEXT)).toBe("adopted");
    expect(await adopt(NEXT)).toBe("in_use");
    expect(await listPaymentManagers(database.db)).toEqual([PAYMENT_MANAGER, NEXT.toLowerCase()]);
  });

  test("not during a rescan", async () => {
    const before = { blockNumber: 900n, blockHash: blockHashOf(900n), blockTime: 1n };
    await tx(database.db, (tx) => rewindCursor(tx, before));
    expect(await adopt(NEXT)).toBe("rescanning");
  });

  test("not while an earlier one could still mint at the last ingested block", async () => {
    allowance = word("0x1");
    expect(await adopt(NEXT)).toEqual({ stillMints: PAYMENT_MANAGER, blockNumber: 1_000n });
    expect(await listPaymentManagers(database.db)).toEqual([PAYMENT_MANAGER]);
  });

  test.each<[string, string | undefined]>([
    ["no contract", undefined],
    ["a contract of another kind", "reverts"],
    ["a payment manager of another token", word(NEXT)],
  ])("not when it is %s", async (_, token) => {
    if (token === undefined) tokens.delete(NEXT.toLowerCase());
    else tokens.set(NEXT.toLowerCase(), token);
    expect(await adopt(NEXT)).toBe("not_of_our_token");
  });
});

async function use(address: string): Promise<void> {
  await tx(database.db, (tx) => savePaymentManager(tx, address));
}
