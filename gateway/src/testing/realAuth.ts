import { join } from "node:path";
import { type Database } from "@wonrail/kit/db";
import { type GrpcService, startGrpcServer } from "@wonrail/kit/grpc/server";
import { Registry } from "@wonrail/kit/metrics";
import { openTestDatabase, type TestDatabase, testLog } from "@wonrail/kit/testing";

const AUTH = join(__dirname, "../../../services/auth");
export const AUTH_MIGRATIONS = join(AUTH, "migrations");

/** As far as this package's tests look at the auth service. */
export interface AuthApp {
  createOrganisation(input: object): Promise<{
    organisation: { orgId: string; code: string };
    key: { keyId: string; prefix: string };
    apiKey: string;
    secretKey: string;
  }>;
  setOrganisation(input: { code: string; change: object; actor: string }): Promise<unknown>;
  expireQuotaLeases(): Promise<unknown>;
  endWatches(): void;
}

export interface RealAuth {
  app: AuthApp;
  port: number;
  stop(): Promise<void>;
}

/**
 * A replica of the real auth service on a test database. Loaded by path, because packages do not
 * import each other.
 */
export async function startRealAuth(database: TestDatabase): Promise<RealAuth> {
  const { createApp } = (await import(join(AUTH, "src/app"))) as {
    createApp: (parts: object) => Promise<AuthApp>;
  };
  const { rpc } = (await import(join(AUTH, "src/rpc"))) as { rpc: (app: AuthApp) => GrpcService[] };
  const db: Database = openTestDatabase(database.url, "auth");
  const closers: (() => Promise<void> | void)[] = [];
  const [log, registry] = [testLog(), new Registry()];
  const app = await createApp({
    config: { KEY_MODE: "test", KEY_LIFETIME_HOURS: 1, KEY_OVERLAP_MS: 60_000 },
    db,
    log,
    registry,
    onClose: (_name: string, close: () => Promise<void> | void) => void closers.push(close),
  });
  const server = await startGrpcServer({ host: "127.0.0.1", port: 0, services: rpc(app), log, registry });
  return {
    app,
    port: server.port,
    async stop() {
      app.endWatches();
      await server.drain(1_000);
      for (const close of closers) await close();
      await db.close();
    },
  };
}
