import { readdirSync } from "node:fs";
import { basename, dirname, join } from "node:path";
import { implementAdmin, readAdminRules, type RoleName } from "@wonrail/kit/admin";
import { type Database } from "@wonrail/kit/db";
import { type GrpcService } from "@wonrail/kit/grpc/server";
import { testRegistry } from "@wonrail/kit/testing";
import { createLog } from "@wonrail/kit/log";
import { type buildWorld } from "@wonrail/kit/testing/buildWorld";
import { createApp, type LIMITS } from "../app";
import { type Config } from "../config";
import { startHttpServer } from "../httpServer";
import { hashToken, newToken } from "../identity/tokens";
import { insertLink } from "../store/signIns";
import { type Browser, openBrowser } from "./browser";

type Parts = Parameters<Parameters<typeof buildWorld>[0]>[0];
type Definition = GrpcService["definition"];

/** A call that an admin service received and admitted. */
export interface AdmittedCall {
  method: string;
  request: { operator?: { name: string; roles: string[]; reason: string } };
}

export interface ConsoleOptions {
  settings?: Partial<Config>;
  /** The settings of an identity provider, which must know the address of the console. */
  identityOf?: (url: string) => Promise<Partial<Config>>;
  webFolder?: string;
  heartbeatMs?: number;
  /** Default: far more than a test needs. */
  limits?: typeof LIMITS;
}

const UNLIMITED = { requests: { perSecond: 1, burst: 1e6 }, signIns: { perSecond: 1, burst: 1e6 } };

export type TestConsole = Awaited<ReturnType<typeof startConsole>>;

/** A console on a real database, before real gRPC servers whose handlers note their calls. */
export async function startConsole(open: Parts, options: ConsoleOptions = {}) {
  const { settings, identityOf, webFolder = open.folder(), heartbeatMs, limits = UNLIMITED } = options;
  const migrations = join(__dirname, "../../migrations");
  const { db } = await open.database({ schema: "console", migrations });
  const calls: AdmittedCall[] = [];
  const { address } = await open.server(
    (await adminDefinitions()).map((definition) => noting(definition, calls, db)),
  );
  const registry = testRegistry();
  const lines: string[] = [];
  const log = createLog({ service: "console", destination: { write: (line) => void lines.push(line) } });
  let handler: Parameters<typeof startHttpServer>[0] = () => undefined;
  const server = await startHttpServer((req, res) => handler(req, res), { host: "127.0.0.1", port: 0 });
  open.onClose(() => server.drain(0));
  const url = `http://127.0.0.1:${server.port}`;
  const config: Config = { ...defaults(url, address), ...settings, ...(await identityOf?.(url)) };
  const app = await open.use(createApp({ config, db, log, registry, webFolder, heartbeatMs, limits }));
  ({ handler } = app);

  return {
    ...{ db, url, calls, registry, app },
    /** The log lines so far. */
    lines,
    browser: () => openBrowser(url),
    async newLink(roles: RoleName[] = ["admin"], operator = "kim"): Promise<string> {
      const token = newToken();
      await insertLink(db, hashToken(token)!, { operator, roles });
      return `/auth/link?token=${token}`;
    },
    async signIn(roles?: RoleName[], operator?: string): Promise<Browser> {
      const browser = openBrowser(url);
      const { status } = await browser.get(await this.newLink(roles, operator));
      if (status !== 303) throw new Error(`the link was answered with ${status}`);
      return browser;
    },
  };
}

function defaults(url: string, address: string): Config {
  return {
    NODE_ENV: "test",
    LOG_LEVEL: "info",
    COMMIT: "test",
    ...{ HTTP_HOST: "127.0.0.1", HTTP_PORT: 0, OPS_HOST: "127.0.0.1", OPS_PORT: 0 },
    ...{ DATABASE_URL: "", DATABASE_POOL_MAX: 5 },
    ...{ AUTH_ADDRESS: address, WALLET_ADDRESS: address, LEDGER_ADDRESS: address },
    ...{ PAYMENT_ADDRESS: address, RELAYER_ADDRESS: address, EVENTS_ADDRESS: address },
    OTEL_TRACES_SAMPLER_ARG: 1,
    NETWORK: "WON_TESTNET",
    PUBLIC_URL: url,
    ...{ OIDC_SCOPE: "openid email profile", OIDC_NAME_CLAIM: "email", OIDC_ROLES_CLAIM: "roles" },
    ...{ SESSION_IDLE_MS: 900_000, SESSION_MAX_MS: 28_800_000, TRUSTED_PROXY_HOPS: 0 },
    ...{ SHUTDOWN_GRACE_MS: 1_000, SHUTDOWN_SETTLE_MS: 0 },
  };
}

/** The kit checks role and reason before the handler. The answer has every field's default. */
function noting(definition: Definition, calls: AdmittedCall[], db: Database): GrpcService {
  const handlers = Object.entries(definition).map(([name, { path, responseDeserialize }]) => [
    name,
    async (request: AdmittedCall["request"]) => {
      calls.push({ method: path.slice(1), request });
      return responseDeserialize(Buffer.alloc(0));
    },
  ]);
  const noted = Object.fromEntries(handlers) as Parameters<typeof implementAdmin>[1];
  return implementAdmin(definition, noted, db);
}

/** The generated definitions of the services in proto/adminRoles.json. */
async function adminDefinitions(): Promise<Definition[]> {
  const generated = join(dirname(require.resolve("@wonrail/proto/descriptors")), "wonrail");
  const found = Object.keys(readAdminRules()).map(async (service) => {
    const [, name, version, short] = service.split(".");
    const files = readdirSync(join(generated, name!, version!)).map((file) => basename(file, ".ts"));
    const modules = await Promise.all(
      files.map(async (file) => (await import(`@wonrail/proto/${name}/${version}/${file}`)) as object),
    );
    return (Object.assign({}, ...modules) as Record<string, Definition>)[`${short}Service`]!;
  });
  return Promise.all(found);
}
