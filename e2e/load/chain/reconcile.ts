import { randomBytes } from "node:crypto";
import { setTimeout as sleep } from "node:timers/promises";
import { saveWalletAddresses } from "@wonrail/chain-relayer/indexer/store/walletAddresses";
import { sql } from "@wonrail/kit/db";
import { newId } from "@wonrail/kit/contract/ids";
import { AccountType } from "@wonrail/proto/ledger/v1/intents";
import { openBook } from "../../chain/support/book";
import { openWorld, type World } from "../../chain/support/world";
import { startBenchPostgres } from "../postgres";
import { atMost, type Result } from "../report";

const AT_ONCE = 5_000;

/** Duration of one complete comparison between chain and ledger for this many wallets. */
export async function reconcileSection(wallets: number): Promise<Result[]> {
  const postgres = await startBenchPostgres();
  process.env.WONRAIL_TEST_POSTGRES_URL = postgres.adminUrl;
  const world = await openWorld({ env: { LOG_LEVEL: "warn" }, relayerEnv: { RECONCILE_EVERY_MS: "1000" } });
  try {
    world.node.run(500);
    await openWallets(world, wallets);
    const seconds = await nextComparison(world);
    const compared = await countComparedWallets(world);
    if (compared !== wallets) throw new Error(`${compared} of ${wallets} wallets were compared`);
    return [
      atMost("reconcile.seconds", seconds, "s", 60, `${wallets} wallets, on the chain and in the ledger`),
    ];
  } finally {
    await world.close();
    await postgres.stop();
  }
}

/** Accounts without keys, because no transaction is signed here. */
async function openWallets(world: World, wallets: number): Promise<void> {
  const book = openBook(world);
  for (let done = 0; done < wallets; done += AT_ONCE) {
    const part = Array.from({ length: Math.min(AT_ONCE, wallets - done) }, () => ({
      walletId: newId("wal"),
      orgId: book.orgId,
      address: `0x${randomBytes(20).toString("hex")}`,
    }));
    await book.postMany(
      part.map(({ walletId }) => ({
        $case: "openAccount",
        value: { walletId, userId: walletId, type: AccountType.NORMAL },
      })),
    );
    await saveWalletAddresses(world.relayerDb, part);
  }
  await world.relayerDb.run(sql`analyze wallet_addresses`);
}

/** Duration of the next comparison that starts. */
async function nextComparison({ relayerDb }: World): Promise<number> {
  const { now } = await relayerDb.one<{ now: Date }>(sql`select now() as now`);
  for (;;) {
    const found = await relayerDb.maybe<{ seconds: number }>(sql`
      select extract(epoch from finished_at - started_at)::float as seconds from reconciliation
      where started_at > ${now} and finished_at > started_at`);
    if (found) return found.seconds;
    await sleep(200);
  }
}

async function countComparedWallets({ relayers }: World): Promise<number> {
  const text = await (await fetch(`http://${relayers[0]!.ops}/metrics`)).text();
  const line = text.split("\n").find((one) => one.startsWith('reconciliation_wallets{state="compared"'));
  return Number(line?.split(" ").at(-1) ?? 0);
}
