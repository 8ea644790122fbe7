import { join } from "node:path";
import { openDatabase, rawSql, sql, type Database } from "@wonrail/kit/db";
import { newId } from "@wonrail/kit/contract/ids";
import { ZERO_ADDRESS } from "@wonrail/kit/contract/address";
import { createLog } from "@wonrail/kit/log";
import { won } from "@wonrail/kit/contract/money";
import { buildWorld, type Parts } from "@wonrail/kit/testing/buildWorld";
import { type Engine } from "@wonrail/ledger/commands/engine";
import { requestOf, testEngine } from "@wonrail/ledger/commands/testing/ledger";
import type { WalletType } from "@wonrail/ledger/domain/accountTypes";
import type { Intent } from "@wonrail/ledger/domain/intents";
import type { Outcome } from "@wonrail/ledger/domain/types";

export const DAILY_LIMIT = won(9_000_000_000_000_000n);
const LIMITS = { dailyLimitWon: won(2n ** 62n), maxChargeWon: won(2n ** 62n) };
const RICH = won(1_000_000_000n);
const MIGRATIONS = join(__dirname, "../../../services/ledger/migrations");
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

export function createWorld(clusterUrl: string, walletCount: number): Promise<World> {
  return buildWorld((parts) => buildLedger(parts, clusterUrl, walletCount));
}

type OpenWorld = Omit<World, "close">;

async function buildLedger(parts: Parts, clusterUrl: string, walletCount: number): Promise<OpenWorld> {
  const place = { clusterUrl, schema: "ledger", migrations: MIGRATIONS };
  const { url, adminUrl } = await parts.database(place);
  const db = await parts.use(open(url, "ledger"));
  const admin = await parts.use(open(adminUrl, "ledger"));
  const engine = await parts.use(testEngine({ db, log }));
  const orgId = newId("org");
  const world: OpenWorld = {
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
  };
  world.wallets = await openWallets(world, walletCount, "NORMAL", "user");
  await admin.run(rawSql("vacuum analyze"));
  return world;
}

export async function openWallets(
  world: OpenWorld,
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
