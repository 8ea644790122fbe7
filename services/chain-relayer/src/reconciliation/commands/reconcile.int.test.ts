import { sql, tx } from "@wonrail/kit/db";
import { newId } from "@wonrail/kit/contract/ids";
import { Registry } from "@wonrail/kit/metrics";
import { TOKEN_UNITS_PER_WON } from "@wonrail/kit/contract/money";
import { testLog } from "@wonrail/kit/testing";
import { AccountType } from "@wonrail/proto/ledger/v1/intents";
import { type Block } from "../../evm/provider";
import { bookingOf } from "../../deposits/domain/deposits";
import { insertDeposits } from "../../deposits/store/deposits";
import { acknowledgeDrifts, listDrifts } from "../store/drifts";
import { addMovements } from "../store/settledBalances";
import { saveCursor } from "../../indexer/store/scanCursor";
import { saveWalletAddresses } from "../../indexer/store/walletAddresses";
import { createGauges } from "../../metrics/gauges";
import { createReconcileGauges } from "../reconcileGauges";
import { measureBooks, reconcile, type ReconcileDeps } from "./reconcile";
import { freshDatabase } from "../../testing/database";

const [ORG, WALLET] = [newId("org"), newId("wal")];

const database = freshDatabase();
/** Balances on the chain. No movement was recorded, so any value but 0 is a drift. */
let chainUnits: bigint;
let supplyUnits: bigint;
let ledgerWon: bigint;
let owedWon: bigint;
/** A ledger line that is not pulled yet, so the wallet cannot be judged. */
let sequence: bigint;
/** The chain's present hash of the last ingested block. */
let blockHash: string;

beforeEach(async () => {
  chainUnits = supplyUnits = ledgerWon = owedWon = sequence = 0n;
  blockHash = "0x7";
  await saveCursor(database.db, { blockNumber: 7n, blockHash: "0x7", blockTime: 7n });
  await saveWalletAddresses(database.db, [{ walletId: WALLET, orgId: ORG, address: `0x${"a".repeat(40)}` }]);
});

const DIFFERENCES: [string, () => void, () => void][] = [
  ["CHAIN", () => (chainUnits = 5n), () => (chainUnits = 0n)],
  ["SUPPLY", () => (supplyUnits = 5n), () => (supplyUnits = 0n)],
  ["LEDGER", () => (ledgerWon = 5n), () => (ledgerWon = 0n)],
  ["ORGANISATION", () => (owedWon = 5n), () => (owedWon = 0n)],
];

test.each([["CHAIN"], ["SUPPLY"]])(
  "%s: an answer from another chain neither opens nor resolves a drift",
  async (kind) => {
    const [, differ, agree] = DIFFERENCES.find(([of]) => of === kind)!;
    const moves = <T>(of: string, answer: T): T => {
      if (of === kind) blockHash = "0x70";
      return answer;
    };
    const provider = {
      block: async (number: bigint) => ({ number, hash: blockHash }) as Block,
      callAt: async () => moves("SUPPLY", wordOf(supplyUnits)),
      callManyAt: async (_to: string, calls: string[]) =>
        moves(
          "CHAIN",
          calls.map(() => wordOf(chainUnits * TOKEN_UNITS_PER_WON)),
        ),
    };
    differ();
    blockHash = "0x70";
    await expect(compare()).rejects.toThrow("block 7 was final as 0x7 and is now 0x70");
    blockHash = "0x7";
    await expect(compare({ provider })).rejects.toThrow("block 7 was final as 0x7 and is now 0x70");
    expect(await listDrifts(database.db, { all: true, limit: 10 })).toEqual([]);

    blockHash = "0x7";
    const found = await opened();
    expect(found).toEqual([kind]);
    agree();
    await expect(compare({ provider })).rejects.toThrow("block 7 was final");
    expect(await listDrifts(database.db, { all: true, limit: 10 })).toMatchObject([{ resolvedAt: null }]);
  },
);

test.each(DIFFERENCES)(
  "%s: a difference that was acknowledged, resolved, and comes back the same is found again",
  async (_kind, differ, agree) => {
    differ();
    const first = await opened();
    expect(first).not.toEqual([]);
    expect(await opened()).toEqual(first);
    await acknowledgeAll();
    expect(await opened()).toEqual([]);

    agree();
    expect(await opened()).toEqual([]);
    differ();
    expect(await opened()).toEqual(first);

    // A resolved but unacknowledged drift stays open, and a later difference is a new one.
    agree();
    expect(await opened()).toEqual(first);
    await acknowledgeAll();
    differ();
    expect(await opened()).toEqual(first);
    await acknowledgeAll();
    expect(await opened()).toEqual([]);
    agree();
    expect(await opened()).toEqual([]);
  },
);

test("before the token's deployment no wallet has units and none exist", async () => {
  const provider = {
    block: async (number: bigint) => ({ number, hash: blockHash }) as Block,
    callAt: async () => "0x",
    callManyAt: async (_to: string, calls: string[]) => calls.map(() => "0x"),
  };
  await compare({ provider });
  expect(await listDrifts(database.db, { all: true, limit: 10 })).toEqual([]);
  const minted = { txHash: "0x1", logIndex: 0, orgId: ORG, accountId: WALLET, units: 5n };
  await tx(database.db, (tx) => addMovements(tx, [minted]));
  await compare({ provider });
  const drifts = await listDrifts(database.db, { all: true, limit: 10 });
  expect(drifts).toContainEqual(expect.objectContaining({ kind: "CHAIN", expected: 5n, actual: 0n }));
});

test("a wallet with pending operations is neither drifted nor resolved", async () => {
  ledgerWon = 5n;
  expect(await opened()).toEqual(["LEDGER", "ORGANISATION sum"]);
  await acknowledgeAll();
  sequence = 1n;
  expect(await opened()).toEqual([]);
  sequence = 0n;
  expect(await opened()).toEqual([]);
});

test("money in a wallet without a ledger account is a drift, also while others move", async () => {
  const unlisted = { walletId: newId("wal"), orgId: ORG, address: `0x${"e".repeat(40)}` };
  await saveWalletAddresses(database.db, [unlisted]);
  const minted = { txHash: "0x1", orgId: ORG, units: 5n };
  await tx(database.db, (tx) =>
    addMovements(tx, [
      { ...minted, logIndex: 0, accountId: unlisted.walletId },
      { ...minted, logIndex: 1, accountId: WALLET },
    ]),
  );
  chainUnits = 0n;
  sequence = 1n;
  const found = async () => {
    await compare();
    const drifts = await listDrifts(database.db, { all: false, limit: 100 });
    return drifts.flatMap(({ kind, walletId, expected, actual }) =>
      kind === "LEDGER" ? [{ walletId, expected, actual }] : [],
    );
  };
  expect(await found()).toMatchObject([{ walletId: unlisted.walletId }]);
});

test("a drift that returns is logged again although it is not acknowledged", async () => {
  const logLines: unknown[] = [];
  const log = { ...testLog(), error: (of: unknown) => void logLines.push(of), debug: () => undefined };
  chainUnits = 7n;
  await compare({ log: log as never });
  await compare({ log: log as never });
  expect(logLines).toHaveLength(1);
  chainUnits = 0n;
  await compare({ log: log as never });
  chainUnits = 7n;
  await compare({ log: log as never });
  await compare({ log: log as never });
  expect(logLines).toHaveLength(2);
});

test("gauges show open drifts and deposits without a ledger entry", async () => {
  const registry = new Registry();
  const reconcileGauges = createReconcileGauges(registry);
  const measured = async () => {
    await measureBooks({ db: database.db, reconcileGauges });
    const lines = (await registry.metrics()).split("\n").filter((line) => !line.startsWith("#"));
    return new Map(lines.map((line) => line.split(" ") as [string, string]));
  };
  chainUnits = 7n;
  await compare();
  const place = { txHash: "0x1", blockNumber: 7n, blockHash: "0x7", fromAddress: "0x2", orgId: ORG };
  const deposits = [1_000_001n, 5n, 10n ** 30n].map((units, logIndex) => {
    const to = { walletId: WALLET, ledgerRef: newId("opn") };
    return { ...place, ...to, logIndex, units, ...bookingOf(units) };
  });
  await tx(database.db, (tx) => insertDeposits(tx, deposits));
  await database.db.run(sql`update deposits set created_at = now() - interval '90 seconds'`);
  const before = await measured();
  expect(before.get(`ledger_chain_drift_won{kind="CHAIN"}`)).toBe("7");
  expect(before.get(`reconciliation_open_drifts{kind="CHAIN"}`)).toBe("1");
  const states = ["seen", "dust", "too_large"].map((one) => before.get(`deposits_unbooked{state="${one}"}`));
  expect(states).toEqual(["1", "1", "1"]);
  expect(before.get("deposits_remainder_units")).toBe("6");
  expect(Math.floor(Number(before.get("deposits_oldest_seen_seconds")) / 10)).toBe(9);
  const secondsAgo = Date.now() / 1000 - Number(before.get("reconciliation_last_success_timestamp_seconds"));
  expect(Math.abs(secondsAgo)).toBeLessThan(60);

  await acknowledgeAll();
  expect((await measured()).has(`reconciliation_open_drifts{kind="CHAIN"}`)).toBe(false);
});

/** Open drifts after one more comparison. */
async function opened(): Promise<string[]> {
  await compare();
  const drifts = await listDrifts(database.db, { all: false, limit: 100 });
  return drifts.map(({ kind, subject }) => `${kind} ${subject}`.trim()).sort();
}

async function acknowledgeAll(): Promise<void> {
  for (const { driftId } of await listDrifts(database.db, { all: false, limit: 100 })) {
    await acknowledgeDrifts(database.db, { driftId }, "somebody");
  }
}

async function compare(other: Partial<ReconcileDeps> = {}): Promise<void> {
  const account = { accountId: WALLET, balanceWon: ledgerWon.toString(), sequence };
  const deps: ReconcileDeps = {
    db: database.db,
    log: testLog(),
    gauges: createGauges(new Registry(), Date.now),
    provider: {
      block: (number) => Promise.resolve({ number, hash: blockHash } as Block),
      callAt: () => Promise.resolve(wordOf(supplyUnits)),
      callManyAt: (_to, calls) => Promise.resolve(calls.map(() => wordOf(chainUnits * TOKEN_UNITS_PER_WON))),
    },
    ledger: {
      listAccounts: () => Promise.resolve({ accounts: [account] }),
      getBalances: ({ accountIds }: { accountIds: string[] }) =>
        Promise.resolve({ accounts: accountIds.includes(WALLET) ? [account] : [] }),
      getTotals: () =>
        Promise.resolve({
          walletsWon: ledgerWon.toString(),
          totals: [{ type: AccountType.ORG_EXTERNAL, balanceWon: (-owedWon).toString() }],
        }),
    } as never,
    chain: { tokenAddress: `0x${"b".repeat(40)}` },
    reconcileEveryMs: 0,
    reconcileGauges: createReconcileGauges(new Registry()),
    ...other,
  };
  await reconcile(deps, new AbortController().signal);
}

function wordOf(units: bigint): string {
  return `0x${units.toString(16).padStart(64, "0")}`;
}
