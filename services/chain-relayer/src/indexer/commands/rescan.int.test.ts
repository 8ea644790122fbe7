import { sql } from "@wonrail/kit/db";
import { newId } from "@wonrail/kit/contract/ids";
import { testLog, testOperator, testRegistry } from "@wonrail/kit/testing";
import { tokenAbi } from "../../evm/contracts";
import { type ChainLog } from "../../evm/logs";
import { listDrifts } from "../../reconciliation/store/drifts";
import { findReconciliation } from "../../reconciliation/store/reconciliation";
import { findCursor, saveCursor } from "../store/scanCursor";
import { saveWalletAddresses } from "../store/walletAddresses";
import { expireHolds } from "../../settlement/commands/expireHolds";
import { createReconcileGauges } from "../../reconciliation/reconcileGauges";
import { reconcile, type ReconcileDeps } from "../../reconciliation/commands/reconcile";
import { rescan } from "./rescan";
import { scanFinalized } from "./scanFinalized";
import {
  blockHashOf,
  type ChainDouble,
  createChainDouble,
  cursorAt,
  depsOn,
  TOKEN,
} from "../../testing/chainDouble";
import { freshDatabase } from "../../testing/database";
import { operationOf, statesOf, ingestExpiredHold } from "../../testing/operations";

const database = freshDatabase();
const { signal } = new AbortController();
const operator = testOperator();
const CURSOR = { blockNumber: 1_000n, blockHash: blockHashOf(1_000n), blockTime: 1n };
const [ORG, WALLETS] = [newId("org"), [newId("wal"), newId("wal"), newId("wal")]];
const NOBODY = `0x${"0".repeat(40)}`;

test("moves the cursor back within the ingested blocks only", async () => {
  await saveCursor(database.db, CURSOR);
  const { provider } = createChainDouble();
  expect(await rescan({ db: database.db, provider }, 1_001n, operator)).toBe("not_ingested_yet");
  expect(await findCursor(database.db)).toEqual(CURSOR);
  expect(await rescan({ db: database.db, provider }, 901n, operator)).toBe("rewound");
  expect(await findCursor(database.db)).toMatchObject({ blockNumber: 900n, blockHash: blockHashOf(900n) });
});

test("refuses while final blocks were replaced, also for an earlier start", async () => {
  await saveCursor(database.db, CURSOR);
  const chain = createChainDouble();
  chain.replacedFrom = 990n;
  for (const from of [1_000n, 991n, 990n, 901n])
    expect(await rescan({ db: database.db, provider: chain.provider }, from, operator)).toEqual({
      replacedAt: 1_000n,
    });
  expect(await findCursor(database.db)).toEqual(CURSOR);
});

describe("during a rescan", () => {
  test("reconciliation pauses until the rescan reaches the block it started from", async () => {
    const { chain, deps, warned } = await takenInTo1000();
    await reconcile(deps, signal);
    const before = await finishedAt();

    await rescan(deps, 951n, operator);
    await reconcile(deps, signal);
    for (let more = true; more;) {
      expect(await drifts()).toEqual([]);
      expect(await finishedAt()).toEqual(before);
      more = await scanFinalized(deps);
      if (more) await reconcile(deps, signal);
    }
    expect(warned.length).toBeGreaterThan(1);
    expect(warned[0]).toEqual({ blockNumber: "950" });

    expect(await findCursor(database.db)).toMatchObject({ blockNumber: 1_000n });
    await reconcile(deps, signal);
    expect(await drifts()).toEqual([]);
    expect((await finishedAt())!.getTime()).toBeGreaterThan(before!.getTime());
    expect(await depositCount()).toBe(3);
    // A difference after the rescan is reported.
    chain.units = 2n;
    await reconcile(deps, signal);
    expect((await drifts()).sort()).toEqual(["CHAIN", "CHAIN", "CHAIN", "SUPPLY"]);
  });

  test("the ledger's side is still compared", async () => {
    const { deps, ledger } = await takenInTo1000();
    await rescan(deps, 951n, operator);
    const account = { accountId: WALLETS[0]!, balanceWon: "7", sequence: 0n };
    const knowing = { ...ledger, listAccounts: async () => ({ accounts: [account] }) } as never;
    await reconcile({ ...deps, ledger: knowing }, signal);
    expect(await drifts()).toEqual(["LEDGER"]);
  });

  test("a second rescan keeps the furthest block as its goal", async () => {
    const { deps } = await takenInTo1000();
    await rescan(deps, 951n, operator);
    await scanFinalized(deps);
    expect(await findCursor(database.db)).toMatchObject({ blockNumber: 958n });
    await rescan(deps, 955n, operator);
    for (let more = true; more;) {
      await reconcile(deps, signal);
      expect(await drifts()).toEqual([]);
      more = await scanFinalized(deps);
    }
  });

  test("a rescan that starts during reconciliation skips the remaining wallets and leaves it incomplete", async () => {
    const { chain, deps } = await takenInTo1000();
    const { callAt } = chain.provider;
    chain.provider.callAt = async (...asked) => {
      await rescan(deps, 951n, operator);
      return callAt(...asked);
    };
    await reconcile(deps, signal);
    expect(await drifts()).toEqual([]);
    expect(await finishedAt()).toBeNull();
  });

  test("a replica of the previous release moves the cursor without knowing of the rescan", async () => {
    const { deps } = await takenInTo1000();
    await rescan(deps, 951n, operator);
    const byTheReleaseBefore = (number: bigint) =>
      database.db.run(sql`
        insert into scan_cursor (block_number, block_hash, block_time) values (${number}, ${blockHashOf(number)}, 1)
        on conflict (one) do update set block_number = excluded.block_number, block_hash = excluded.block_hash,
          block_time = excluded.block_time, updated_at = now()`);
    await byTheReleaseBefore(960n);
    await reconcile(deps, signal);
    expect([await drifts(), await finishedAt()]).toEqual([[], null]);
    await byTheReleaseBefore(1_000n);
    await reconcile(deps, signal);
    expect([await drifts(), await finishedAt()]).toEqual([[], expect.any(Date)]);
  });

  test("a replaced ingested block stops the rescan although it lies beyond the cursor", async () => {
    const { chain, deps } = await takenInTo1000();
    await rescan(deps, 951n, operator);
    chain.replacedFrom = 990n;
    const walletId = WALLETS[0]!;
    const hold = operationOf(walletId, { orgId: ORG, kind: "INTENT_KIND_PLACE_HOLD" });
    await ingestExpiredHold(database.db, hold);
    await expect(scanFinalized(deps)).rejects.toThrow("block 1000 was final as");
    await expireHolds(deps, signal);
    expect(await rescan(deps, 941n, operator)).toEqual({ replacedAt: 1_000n });
    expect(await findCursor(database.db)).toMatchObject({ blockNumber: 950n });
    expect(await statesOf(database.db, [hold])).toEqual(["PLANNED AccountBlocked"]);

    chain.replacedFrom = null;
    while (await scanFinalized(deps));
    expect(await findCursor(database.db)).toMatchObject({ blockNumber: 1_000n });
  });

  test("a final block before the ingested one is ignored", async () => {
    const { chain, deps } = await takenInTo1000();
    await rescan(deps, 951n, operator);
    chain.final = 980n;
    expect(await scanFinalized(deps)).toBe(false);
    expect(await findCursor(database.db)).toMatchObject({ blockNumber: 950n });
  });
});

/**
 * Each of our wallets received a token in final block 990, and all blocks up to 1,000 are ingested.
 * The nodes have the states of all blocks.
 */
async function takenInTo1000() {
  const chain: ChainDouble & { units: bigint } = Object.assign(createChainDouble(), { units: 1n });
  const wallets = WALLETS.map((walletId, at) => ({ walletId, orgId: ORG, address: addressAt(at) }));
  await saveWalletAddresses(database.db, wallets);
  chain.logs = WALLETS.map((_, at) => mintTo(addressAt(at), at));
  const word = (units: bigint, at: bigint) => `0x${(at >= 990n ? units : 0n).toString(16)}`;
  chain.provider.callAt = async (_to, _data, at) => word(3n * chain.units, at);
  chain.provider.callManyAt = async (_to, data, at) => data.map(() => word(chain.units, at));
  await cursorAt(database.db, 940n);
  const warned: unknown[] = [];
  const log = { ...testLog(), warn: (of: unknown) => void warned.push(of), error: () => undefined };
  const registry = testRegistry();
  const totals = { totals: [], walletsWon: "0" };
  const ledger = {
    listAccounts: async () => ({ accounts: [] }),
    // The ledger has all accounts with balance 0.
    getBalances: async ({ accountIds }: { accountIds: string[] }) => ({
      accounts: accountIds.map((accountId) => ({ accountId })),
    }),
    getTotals: async () => totals,
  };
  const deps: ReconcileDeps & ReturnType<typeof depsOn> = {
    ...{ ...depsOn(database.db, chain), log: log as never, ledger: ledger as never, reconcileEveryMs: 0 },
    reconcileGauges: createReconcileGauges(registry),
  };
  while (await scanFinalized(deps));
  // As wide as the first part of a scan, so that there are many.
  return { chain, deps: { ...deps, scanSpan: depsOn(database.db, chain).scanSpan }, ledger, warned };
}

function addressAt(place: number): string {
  return `0x${String(place + 1).padStart(40, "0")}`;
}

function mintTo(address: string, logIndex: number): ChainLog {
  const { data, topics } = tokenAbi.encodeEventLog("Transfer", [NOBODY, address, 1n]);
  const place = { blockNumber: 990n, blockHash: blockHashOf(990n), txHash: blockHashOf(990n), logIndex };
  return { address: TOKEN, topics, data, ...place };
}

async function drifts(): Promise<string[]> {
  return (await listDrifts(database.db, { all: true, limit: 10 })).map(({ kind }) => kind);
}

async function finishedAt(): Promise<Date | null> {
  return (await findReconciliation(database.db)).finishedAt;
}

async function depositCount(): Promise<number> {
  return (await database.db.query(sql`select from deposits`)).length;
}
