import { randomBytes } from "node:crypto";
import { writeFileSync } from "node:fs";
import { join } from "node:path";
import { actionsOf, createAdminService } from "@wonrail/kit/admin";
import { type ClientLifecycle, type PromiseClient } from "@wonrail/kit/grpc/client";
import { createLog } from "@wonrail/kit/log";
import { type Registry } from "@wonrail/kit/metrics";
import { type TestDatabase, testRegistry } from "@wonrail/kit/testing";
import { type ReadOwnTopic } from "@wonrail/kit/service";
import { buildWorld, type Parts } from "@wonrail/kit/testing/buildWorld";
import { WalletServiceService, WalletStatus } from "@wonrail/proto/wallet/v1/wallet";
import { type App, createApp } from "../../app";
import { type Config } from "../../config";
import { adminRpc } from "../../adminRpc";
import { rpc } from "../../rpc";
import { createLedgerDouble, type LedgerDouble } from "./ledgerDouble";

export const CHAIN_ID = 31_337;
export const TOKEN = "0x5FbDB2315678afecb367f032d93F642f64180aa3";

/** The wallet service on its own database, behind its real gRPC server. */
export interface World {
  database: TestDatabase;
  ledger: LedgerDouble;
  app: App;
  client: PromiseClient<WalletServiceService> & ClientLifecycle;
  /** host:port of both services. */
  address: string;
  registry: Registry;
  /** All log output at the lowest level. */
  logged(): string;
  kekPath: string;
  /** Mounts another set of key-encryption keys, created for this test; the last one is current. */
  mountKeks(...ids: string[]): void;
  close(): Promise<void>;
}

export function openWorld(config: Partial<Config> = {}, readOwnTopic?: ReadOwnTopic): Promise<World> {
  return buildWorld(async (parts) => {
    const migrations = join(__dirname, "../../../migrations");
    const database = await parts.database({ schema: "wallet", migrations });
    const { kekPath, mountKeks } = keyFile(parts);
    const ledger = createLedgerDouble();
    const registry = testRegistry();
    let lines = "";
    const log = createLog({
      service: "wallet",
      level: "trace",
      destination: { write: (line) => void (lines += line) },
    });
    const { address } = await parts.server([ledger.service], { log });
    const own = { LEDGER_ADDRESS: address, KEK_PATH: kekPath, ...SETTINGS, ...config } as Config;
    const { db } = database;
    const app = parts.app((onClose) => createApp({ config: own, db, log, registry, onClose, readOwnTopic }));
    const admin = adminRpc(app, database.db);
    const common = { db: database.db, service: "wallet", commit: "0", topic: undefined };
    const server = await parts.server([...rpc(app), admin, createAdminService(common, actionsOf([admin]))], {
      log,
      registry,
    });
    const client = parts.client(WalletServiceService, server.address, { name: "wallet" });
    return {
      database,
      ledger,
      app,
      client,
      address: server.address,
      registry,
      logged: () => lines,
      kekPath,
      mountKeks,
    };
  });
}

const SETTINGS = {
  CHAIN_ID,
  TOKEN_ADDRESS: TOKEN,
  SIGNING_HORIZON_MS: 3_600_000,
  SIGNING_LIMIT_WALLET_WON: 10_000_000n,
  SIGNING_LIMIT_ORGANISATION_WON: 100_000_000n,
  SIGNING_LIMIT_GLOBAL_WON: 1_000_000_000n,
};

function keyFile(parts: Parts): Pick<World, "kekPath" | "mountKeks"> {
  const kekPath = join(parts.folder(), "kek.json");
  const keks = new Map<string, string>();
  const mountKeks = (...ids: string[]) => {
    for (const id of ids) if (!keks.has(id)) keks.set(id, randomBytes(32).toString("base64"));
    const keys = Object.fromEntries(ids.map((id) => [id, keks.get(id)]));
    writeFileSync(kekPath, JSON.stringify({ current: ids.at(-1), keys }));
  };
  mountKeks("k1");
  return { kekPath, mountKeks };
}

/** The wallet's status, which must be its account's. */
export async function agreedStatus(
  { client, ledger }: World,
  { orgId, walletId }: { orgId: string; walletId: string },
): Promise<string> {
  const { wallet } = await client.getWallet({ orgId, walletId });
  const status = statusName(wallet!.status);
  expect(status).toBe(ledger.opened.has(walletId) ? "ACTIVE" : "DEACTIVATED");
  return status;
}

export function statusName(status: WalletStatus): string {
  return status === WalletStatus.ACTIVE ? "ACTIVE" : "DEACTIVATED";
}
