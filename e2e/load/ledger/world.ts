import { randomBytes } from "node:crypto";
import { join } from "node:path";
import { openDatabase, rawSql, sql, type Database } from "@wonrail/kit/db";
import { newId } from "@wonrail/kit/contract/ids";
import { ZERO_ADDRESS } from "@wonrail/kit/contract/address";
import { createLog } from "@wonrail/kit/log";
import { migrate, provisionSchema } from "@wonrail/kit/migrate";
import { won } from "@wonrail/kit/contract/money";
import { type Engine } from "@wonrail/ledger/commands/engine";
import { requestOf, testEngine } from "@wonrail/ledger/commands/testing/ledger";
import type { WalletType } from "@wonrail/ledger/domain/accountTypes";
import type { Intent } from "@wonrail/ledger/domain/intents";
import type { Outcome } from "@wonrail/ledger/domain/types";

export const DAILY_LIMIT = won(9_000_000_000_000_000n);
const LIMITS = { dailyLimitWon: won(2n ** 62n), maxChargeWon: won(2n ** 62n) };
const RICH = won(1_000_000_000n);
const log = createLog({ service: "bench", level: "error" });

/** A ledger in its own database, with one organisation and this many funded NORMAL wallets. */
export interface World {
  adminUrl: string;
  url: string;
  db: Database;
  admin: Database;
  engine: Engine;
  orgId: string;
  wallets: string[];
  post(intent: Intent): Promise<Outcome>;
  walBytes(): Promise<bigint>;
  close(): Promise<void>;
}

export async function createWorld(clusterUrl: string, walletCount: number): Promise<World> {
  const name = `bench_${randomBytes(4).toString("hex")}`;
  const cluster = open(clusterUrl, "public");
  await cluster.run(rawSql(`create database ${name}`));
  await cluster.close();
  const base = new URL(clusterUrl);
  base.pathname = `/${name}`;
  const adminUrl = base.toString();
  const { url, ownerUrl } = await provisionSchema({
    adminUrl,
    schema: "ledger",
    rolePassword: "bench",
    ownerPassword: "bench",
  });
  await migrate({
    url: ownerUrl,
    schema: "ledger",
    dir: join(__dirname, "../../../services/ledger/migrations"),
    log,
  });

  const db = open(url, "ledger");
  const admin = open(adminUrl, "ledger");
  const engine = testEngine({ db, log });
  const orgId = newId("org");
  const world: World = {
    adminUrl,
    url,
    db,
    admin,
    engine,
    orgId,
    wallets: [],
    post: (intent) => post(engine, orgId, intent),
    async walBytes() {
      const { bytes } = await admin.one<{ bytes: bigint }>(
        sql`select (pg_current_wal_insert_lsn() - '0/0'::pg_lsn)::bigint as bytes`,
      );
      return bytes;
    },
    async close() {
      await engine.close();
      await Promise.all([db.close(), admin.close()]);
    },
  };
  world.wallets = await openWallets(world, walletCount, "NORMAL", "user");
  await admin.run(rawSql("vacuum analyze"));
  return world;
}

export async function openWallets(
  world: World,
  count: number,
  type: WalletType,
  userPrefix: string,
): Promise<string[]> {
  const ids = Array.from({ length: count }, () => newId("wal"));
  await Promise.all(
    ids.map((walletId, index) =>
      world.post({ kind: "openAccount", walletId, userId: `${userPrefix}${index}`, type }),
    ),
  );
  await Promise.all(
    ids.map((walletId) => world.post({ kind: "charge", walletId, amountWon: RICH, ...LIMITS })),
  );
  return ids;
}

const origin = { requestId: newId("req"), traceparent: `00-${"ab".repeat(16)}-${"cd".repeat(8)}-01` };

export async function post(engine: Engine, orgId: string, intent: Intent): Promise<Outcome> {
  const { outcome } = await engine.post({ request: requestOf(orgId, intent), origin, deadlineMs: Infinity });
  if (outcome.status === "refused") throw new Error(`${intent.kind} was refused: ${outcome.code}`);
  return outcome;
}

export function transferIntent(fromWalletId: string, toWalletId: string): Intent {
  return {
    kind: "transfer",
    fromWalletId,
    toWalletId,
    toAddress: ZERO_ADDRESS,
    amountWon: won(10n),
    dailyLimitWon: DAILY_LIMIT,
  };
}

/** Two different ones of the first `count`. */
export function randomPair(wallets: string[]): [string, string] {
  const first = Math.floor(Math.random() * wallets.length);
  const second = (first + 1 + Math.floor(Math.random() * (wallets.length - 1))) % wallets.length;
  return [wallets[first]!, wallets[second]!];
}

export function open(url: string, schema: string, max = 8): Database {
  return openDatabase({ url, schema, applicationName: "bench", max, log, statementTimeoutMs: 600_000 });
}
