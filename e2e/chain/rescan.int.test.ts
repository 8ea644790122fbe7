// A rescan of final blocks on a node that still has their states.
import { runAdmin } from "@wonrail/chain-relayer/admin";
import { sql } from "@wonrail/kit/db";
import { eventually } from "@wonrail/kit/testing";
import { NO_LIMIT, openBook } from "./support/book";
import { openWorld, type World } from "./support/world";

const patience = { timeoutMs: 60_000 };

let world: World;

beforeAll(async () => {
  world = await openWorld({ relayers: 1, relayerEnv: { RECONCILE_EVERY_MS: "500" } });
  world.node.run(300);
}, 240_000);
afterAll(() => world.close(), 120_000);

test("a rescan reports no drift, and the wallets' money keeps moving", async () => {
  const book = openBook(world);
  const [payer, payee] = [await book.openWallet("payer"), await book.openWallet("payee")];
  const before = BigInt(await world.node.rpc<string>("eth_blockNumber"));
  const charge = { walletId: payer.walletId, amountWon: "3000" };
  const charged = await book.post("chg", { $case: "charge", value: charge });
  await eventually(async () => expect(await stateOf(charged)).toBe("CONFIRMED"), patience);
  await world.node.pause();
  // The state that a comparison at the older block would need is there.
  const nobody = `0x${"0".repeat(40)}`;
  await world.node.rpc("eth_getBalance", [nobody, `0x${(before - 1n).toString(16)}`]);
  await begun(2);
  expect(await openDrifts()).toEqual([]);

  const resume = await pauseIndexer();
  try {
    await rescanFrom(before);
    // The comparison that was running has ended.
    await begun(2);
    const { finishedAt } = await reconciliation();
    await begun(2);
    expect((await reconciliation()).finishedAt).toEqual(finishedAt);
    expect(await openDrifts()).toEqual([]);
  } finally {
    await resume();
  }

  const { finishedAt } = await reconciliation();
  await eventually(async () => {
    expect((await reconciliation()).finishedAt!.getTime()).toBeGreaterThan(finishedAt!.getTime());
  }, patience);
  expect(await openDrifts()).toEqual([]);
  world.node.run(300);
  const transfer = { fromWalletId: payer.walletId, toWalletId: payee.walletId, amountWon: "10" };
  const ref = await book.post("trf", { $case: "transfer", value: { ...transfer, dailyLimitWon: NO_LIMIT } });
  await eventually(async () => expect(await stateOf(ref)).toBe("CONFIRMED"), patience);
}, 240_000);

/**
 * Stops the ingestion of transfers until the returned function is called, by a lock on the
 * movements table.
 */
async function pauseIndexer(): Promise<() => Promise<void>> {
  let release = (): void => undefined;
  const released = new Promise<void>((resolve) => (release = resolve));
  let locked = (): void => undefined;
  const isLocked = new Promise<void>((resolve) => (locked = resolve));
  const held = world.relayerDb.dedicated(async (connection) => {
    await connection.run(sql`begin`);
    await connection.run(sql`lock table movements in exclusive mode`);
    locked();
    await released;
    await connection.run(sql`rollback`);
  });
  await Promise.race([isLocked, held]);
  return () => {
    release();
    return held;
  };
}

/** Waits until this many more comparisons have started. */
async function begun(rounds: number): Promise<void> {
  for (let round = 0; round < rounds; round += 1) {
    const { startedAt } = await reconciliation();
    await eventually(async () => {
      expect((await reconciliation()).startedAt.getTime()).toBeGreaterThan(startedAt.getTime());
    }, patience);
  }
}

async function reconciliation(): Promise<{ startedAt: Date; finishedAt: Date | null }> {
  const row = await world.relayerDb.one<{ started_at: Date; finished_at: Date | null }>(
    sql`select started_at, finished_at from reconciliation`,
  );
  return { startedAt: row.started_at, finishedAt: row.finished_at };
}

function openDrifts(): Promise<{ kind: string }[]> {
  return world.relayerDb.query(sql`select kind, wallet_id, expected, actual from drifts`);
}

async function stateOf(ledgerRef: string): Promise<string | undefined> {
  const row = await world.relayerDb.maybe<{ state: string }>(
    sql`select state from operations where ledger_ref = ${ledgerRef}`,
  );
  return row?.state;
}

async function rescanFrom(block: bigint): Promise<void> {
  let output = "";
  const hear = (text: string) => void (output += text);
  const config = { RELAYER_ADDRESS: world.relayers[0]!.grpc, USER: "tester" };
  const code = await runAdmin(["rescan", "--from", String(block), "--reason", "test"], {
    config,
    out: hear,
    err: hear,
  });
  expect([code, output]).toEqual([0, output]);
}
