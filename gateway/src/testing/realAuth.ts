import { join } from "node:path";
import { type GrpcService } from "@wonrail/kit/grpc/server";
import { Registry } from "@wonrail/kit/metrics";
import { openTestDatabase, type TestDatabase, testLog } from "@wonrail/kit/testing";
import { buildWorld, type Parts } from "@wonrail/kit/testing/buildWorld";

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
  const { close, ...auth } = await buildWorld((parts) => buildAuth(parts, database));
  return { ...auth, stop: close };
}

async function buildAuth(parts: Parts, { url }: TestDatabase): Promise<Omit<RealAuth, "stop">> {
  const { createApp } = (await import(join(AUTH, "src/app"))) as {
    createApp: (parts: object) => Promise<AuthApp>;
  };
  const { rpc } = (await import(join(AUTH, "src/rpc"))) as { rpc: (app: AuthApp) => GrpcService[] };
  const db = await parts.use(openTestDatabase(url, "auth"));
  const config = { KEY_MODE: "test", KEY_LIFETIME_HOURS: 1, KEY_OVERLAP_MS: 60_000 };
  const [log, registry] = [testLog(), new Registry()];
  const app = await parts.app((onClose) => createApp({ config, db, log, registry, onClose }));
  const server = await parts.server(rpc(app), { registry, graceMs: 1_000 });
  parts.onClose(() => app.endWatches());
  return { app, port: server.port };
}
