import { randomBytes } from "node:crypto";
import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { createClient } from "@wonrail/kit/grpc/client";
import { startGrpcServer } from "@wonrail/kit/grpc/server";
import { createLog } from "@wonrail/kit/log";
import { createRegistry, type Registry } from "@wonrail/kit/metrics";
import { createTestDatabase, type TestDatabase, testLog } from "@wonrail/kit/testing";
import { WalletServiceService, WalletStatus } from "@wonrail/proto/wallet/v1/wallet";
import { type App, createApp } from "../../app";
import { type Config } from "../../config";
import { rpc } from "../../rpc";
import { createLedgerDouble, type LedgerDouble } from "./ledgerDouble";

export const CHAIN_ID = 31_337;
export const TOKEN = "0x5FbDB2315678afecb367f032d93F642f64180aa3";

/** The wallet service on a database of the test's own, behind its real gRPC door. */
export interface World {
  database: TestDatabase;
  ledger: LedgerDouble;
  app: App;
  client: ReturnType<typeof openWallets>;
  registry: Registry;
  /** All log output at the lowest level. */
  logged(): string;
  kekPath: string;
  /** Mounts another set of key-encryption keys, created for this test; the last one is current. */
  mountKeks(...ids: string[]): void;
  close(): Promise<void>;
}

export async function openWorld(config: Partial<Config> = {}): Promise<World> {
  const database = await createTestDatabase({
    schema: "wallet",
    migrations: join(__dirname, "../../../migrations"),
  });
  const folder = mkdtempSync(join(tmpdir(), "wallet-"));
  const kekPath = join(folder, "kek.json");
  const keks = new Map<string, string>();
  const mountKeks = (...ids: string[]) => {
    for (const id of ids) if (!keks.has(id)) keks.set(id, randomBytes(32).toString("base64"));
    const keys = Object.fromEntries(ids.map((id) => [id, keks.get(id)]));
    writeFileSync(kekPath, JSON.stringify({ current: ids.at(-1), keys }));
  };
  mountKeks("k1");

  const ledger = createLedgerDouble();
  const registry = createRegistry({ service: "wallet", version: "0", commit: "0" });
  const edges = createRegistry({ service: "edges", version: "0", commit: "0" });
  const listen = (services: Parameters<typeof startGrpcServer>[0]["services"], own: Registry) =>
    startGrpcServer({ host: "127.0.0.1", port: 0, services, log, registry: own });
  let lines = "";
  const log = createLog({
    service: "wallet",
    level: "trace",
    destination: { write: (line) => void (lines += line) },
  });
  const ledgerServer = await listen([ledger.service], edges);
  const closers: (() => Promise<void> | void)[] = [];
  const app = createApp({
    config: {
      LEDGER_ADDRESS: `127.0.0.1:${ledgerServer.port}`,
      KEK_PATH: kekPath,
      CHAIN_ID,
      TOKEN_ADDRESS: TOKEN,
      SIGNING_HORIZON_MS: 3_600_000,
      SIGNING_LIMIT_WALLET_WON: 10_000_000n,
      SIGNING_LIMIT_ORGANISATION_WON: 100_000_000n,
      SIGNING_LIMIT_GLOBAL_WON: 1_000_000_000n,
      ...config,
    } as Config,
    db: database.db,
    log,
    registry,
    onClose: (_, close) => void closers.push(close),
  });
  const server = await listen(rpc(app), registry);
  const client = openWallets(server.port);
  return {
    database,
    ledger,
    app,
    client,
    registry,
    logged: () => lines,
    kekPath,
    mountKeks,
    async close() {
      client.close();
      await server.drain(500);
      for (const close of closers) await close();
      await ledgerServer.drain(500);
      await database.drop();
      rmSync(folder, { recursive: true });
    },
  };
}

function openWallets(port: number) {
  return createClient(WalletServiceService, {
    name: "wallet",
    address: `127.0.0.1:${port}`,
    log: testLog(),
    registry: createRegistry({ service: "client", version: "0", commit: "0" }),
    defaultTimeoutMs: 10_000,
  });
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
