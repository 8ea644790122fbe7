import { sql, tx } from "@wonrail/kit/db";
import { newId } from "@wonrail/kit/contract/ids";
import { testRegistry } from "@wonrail/kit/testing";
import { type LedgerReader } from "../queries/compareLedger";
import { listDrifts } from "../store/drifts";
import { findReconciliation } from "../store/reconciliation";
import { addMovements } from "../store/settledBalances";
import { createReconcileGauges } from "../reconcileGauges";
import { reconcile } from "./reconcile";
import { blockHashOf, createChainDouble, cursorAt, depsOn } from "../../testing/chainDouble";
import { freshDatabase } from "../../testing/database";

const database = freshDatabase();
const { signal } = new AbortController();
const WALLETS = 12_001;
const ORG = newId("org");

test("wallets are compared in parts, each at its own block, while blocks are ingested", async () => {
  await makeWallets();
  let block = 100n;
  await cursorAt(database.db, block);
  let taken = Promise.resolve();
  const calls: { count: number; at: bigint }[] = [];
  const provider = {
    ...createChainDouble().provider,
    callAt: () => Promise.resolve("0x0"),
    callManyAt: async (_to: string, data: string[], at: bigint) => {
      calls.push({ count: data.length, at });
      // The last wallet gets a token with each ingested block.
      const balances = data.map((one) => (one.endsWith(addressOf(WALLETS).slice(2)) ? at - 100n : 0n));
      // Sequential, because two of these run at once.
      await (taken = taken.then(() => ingestBlock((block += 1n))));
      return balances.map((units) => `0x${units.toString(16)}`);
    },
  };
  await reconcile(depsWith(provider), signal);
  expect(await listDrifts(database.db, { all: true, limit: 10 })).toEqual([]);
  expect(calls.reduce((sum, { count }) => sum + count, 0)).toBe(WALLETS);
  expect(new Set(calls.map(({ at }) => at)).size).toBe(3);
});

test("a deficit in a wallet of the last part is reported", async () => {
  await makeWallets();
  await cursorAt(database.db, 1_000n);
  await ingestBlock(1_001n);
  await reconcile(depsWith(createChainDouble().provider), signal);
  const found = await listDrifts(database.db, { all: true, limit: 10 });
  expect(found).toMatchObject([{ walletId: walletOf(WALLETS), kind: "CHAIN", expected: 1n, actual: 0n }]);
});

test.each([
  ["the chain", "callManyAt", WALLETS],
  ["the ledger", "listAccounts", 100],
])("a stopping process compares no further wallets with %s", async (_, asked, all) => {
  await makeWallets();
  await cursorAt(database.db, 1_000n);
  const [stop, ending] = [new AbortController(), new Error("it is to end")];
  let count = 0;
  const note = (of: string, many: number) => {
    if (of !== asked) return;
    stop.abort(ending);
    count += many;
  };
  const { provider } = createChainDouble();
  const deps = depsWith({
    ...provider,
    callManyAt: async (_to: string, data: string[]) => {
      note("callManyAt", data.length);
      return data.map(() => "0x0");
    },
  });
  const account = (number: number) => ({ accountId: walletOf(number), balanceWon: "0", sequence: 0n });
  const listAccounts = async () => {
    note("listAccounts", 1);
    return { accounts: Array.from({ length: count === all ? 0 : 1_000 }, (_, index) => account(index)) };
  };
  const comparing = reconcile({ ...deps, ledger: { ...deps.ledger, listAccounts } as never }, stop.signal);
  await expect(comparing).rejects.toBe(ending);
  expect(count).toBeGreaterThan(0);
  expect(count).toBeLessThan(all);
  expect((await findReconciliation(database.db)).finishedAt).toBeNull();
});

function depsWith(provider: object) {
  const totals = { totals: [], walletsWon: "0" };
  const ledger = {
    listAccounts: async () => ({ accounts: [] }),
    // The ledger has all accounts with balance 0.
    getBalances: async ({ accountIds }: { accountIds: string[] }) => ({
      accounts: accountIds.map((accountId) => ({ accountId })),
    }),
    getTotals: async () => totals,
  };
  const registry = testRegistry();
  return {
    ...depsOn(database.db, createChainDouble()),
    ...{ provider: provider as never, ledger: ledger as never as LedgerReader, reconcileEveryMs: 15_000 },
    reconcileGauges: createReconcileGauges(registry),
  };
}

async function makeWallets(): Promise<void> {
  await database.db.run(sql`
    insert into wallet_addresses (wallet_id, org_id, address)
    select 'wal_' || lpad(n::text, 32, '0'), ${ORG}, '0x' || lpad(n::text, 40, '0')
    from generate_series(1, ${WALLETS}::integer) as n`);
}

/** In which the last of all wallets gets a token from somewhere. */
async function ingestBlock(blockNumber: bigint): Promise<void> {
  await tx(database.db, async (tx) => {
    const log = { txHash: blockHashOf(blockNumber), logIndex: 0 };
    await addMovements(tx, [{ ...log, accountId: walletOf(WALLETS), orgId: ORG, units: 1n }]);
    await cursorAt(tx, blockNumber);
  });
}

function walletOf(number: number): string {
  return `wal_${String(number).padStart(32, "0")}`;
}

function addressOf(number: number): string {
  return `0x${String(number).padStart(40, "0")}`;
}
