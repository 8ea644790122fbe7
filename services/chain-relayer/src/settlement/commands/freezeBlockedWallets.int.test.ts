import { type Database, sql, tx } from "@wonrail/kit/db";
import { newId } from "@wonrail/kit/contract/ids";
import { testLog } from "@wonrail/kit/testing";
import { Freeze } from "@wonrail/proto/ledger/v1/intents";
import { type PostBulkRequest, type PostRequest } from "@wonrail/proto/ledger/v1/ledger";
import { freshDatabase } from "../../testing/database";
import { countWalletBlocks, listBlockedWallets, saveWalletBlock } from "../store/walletBlocks";
import { freezeBlockedWallets } from "./freezeBlockedWallets";

const database = freshDatabase();
const { signal } = new AbortController();
const wallet = { walletId: newId("wal"), orgId: newId("org"), address: `0x${"5".repeat(40)}` };

test("a change is posted under the same key until the ledger takes it, and again an hour later", async () => {
  const { db } = database;
  await change(db, true, 7n);
  const ledger = ledgerDouble();
  ledger.answer = "WAL_002";
  await freeze(ledger);
  expect(await listBlockedWallets(db, 10)).toMatchObject([{ frozen: false, refusal: "WAL_002" }]);
  ledger.answer = "away";
  await due(db);
  await expect(freeze(ledger)).rejects.toThrow("the ledger is away");
  ledger.answer = "posted";
  await due(db);
  await freeze(ledger);
  expect(await listBlockedWallets(db, 10)).toMatchObject([{ frozen: true, refusal: null, sinceBlock: 7n }]);
  await freeze(ledger);
  expect(ledger.asked).toHaveLength(3);
  expect(new Set(ledger.asked.map(({ key }) => key!.key)).size).toBe(1);
  expect(ledger.asked.map(freezeOf)).toEqual(Array(3).fill(Freeze.ALL));
  const { minutes } = await db.one<{ minutes: number }>(
    sql`select round(extract(epoch from post_at - now()) / 60)::float8 as minutes from wallet_blocks`,
  );
  expect(minutes).toBe(60);
});

test("an unblock that is indexed during the call with the block is posted after that call", async () => {
  const { db } = database;
  await change(db, true, 7n);
  const ledger = ledgerDouble();
  ledger.during = async () => {
    await change(db, false, 9n);
    // Another replica finds nothing to post while the call is under way.
    await freeze(ledgerDouble());
    ledger.during = () => Promise.resolve();
  };
  await freeze(ledger);
  expect(await countWalletBlocks(db)).toEqual({ blocked: 0, unposted: 1 });
  await freeze(ledger);
  expect(ledger.asked.map(freezeOf)).toEqual([Freeze.ALL, Freeze.NONE]);
  expect(new Set(ledger.asked.map(({ key }) => key!.key)).size).toBe(2);
  expect(await countWalletBlocks(db)).toEqual({ blocked: 0, unposted: 0 });
});

function ledgerDouble() {
  const double = {
    answer: "posted",
    during: () => Promise.resolve(),
    asked: [] as PostRequest[],
    async postBulk({ items }: PostBulkRequest) {
      double.asked.push(...items);
      await double.during();
      if (double.answer === "away") throw new Error("the ledger is away");
      const outcome =
        double.answer === "posted"
          ? { $case: "posted", value: {} }
          : { $case: "error", value: { code: double.answer } };
      return { outcomes: items.map(() => ({ outcome, replayed: false })) } as never;
    },
  };
  return double;
}

function freeze(ledger: ReturnType<typeof ledgerDouble>): Promise<void> {
  const chain = { chainId: 31_337n };
  return freezeBlockedWallets({ db: database.db, log: testLog(), ledger, chain }, signal);
}

function freezeOf({ intent }: PostRequest): Freeze | undefined {
  return intent?.$case === "freezeAccount" ? intent.value.freeze : undefined;
}

async function change(db: Database, blocked: boolean, blockNumber: bigint): Promise<void> {
  const place = { blockNumber, blockHash: `0x${blockNumber}`, logIndex: 0 };
  await tx(db, (tx) => saveWalletBlock(tx, { ...wallet, blocked, ...place }));
}

async function due(db: Database): Promise<void> {
  await db.run(sql`update wallet_blocks set post_at = now(), claimed_until = now()`);
}
