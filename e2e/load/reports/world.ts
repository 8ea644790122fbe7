import { type ChildProcess, fork } from "node:child_process";
import { join } from "node:path";
import { startFakeAuthServer } from "@wonrail/gateway/testing/fakeAuthServer";
import { rawSql } from "@wonrail/kit/db";
import { buildWorld, type Parts } from "@wonrail/kit/testing/buildWorld";
import { nodeFlags } from "@wonrail/local/services";
import { ROOT } from "../../ops/repository";
import { loadHistory } from "../ledger/history";
import { createWorld as createLedger, open } from "../ledger/world";
import { type ServiceName } from "./serve";

const SERVICES = join(__dirname, "../../../services");
const TOKEN = { CHAIN_ID: 31337, TOKEN_ADDRESS: `0x${"1".repeat(40)}` };
const LEDGER = { BATCH_QUEUES: 2, MAX_BATCH: 1_000, MAX_QUEUE: 20_000, MAX_CHARGED_PER_DAY_WON: 1e12 };
const LIMITS = { WALLET_WON: 1, ORGANISATION_WON: 1, GLOBAL_WON: 1 };
const GATEWAY = { REQUEST_BUDGET_MS: 10_000, AUTH_OUTAGE_GRACE_MS: 300_000, TRUSTED_PROXY_HOPS: 0 };

export type World = Awaited<ReturnType<typeof createWorld>>;

/** An organisation with this many wallets and journal lines, and its services as processes. */
export function createWorld(clusterUrl: string, size: { wallets: number; lines: number }) {
  return buildWorld((parts) => buildReports(parts, clusterUrl, size));
}

async function buildReports(
  parts: Parts,
  clusterUrl: string,
  { wallets, lines }: { wallets: number; lines: number },
) {
  const ledger = await parts.use(createLedger(clusterUrl, wallets));
  // A transfer has two lines, and each wallet has the line of its charge.
  await loadHistory(ledger, (lines - wallets) / 2);
  const payment = await makeDatabase(parts, clusterUrl, "payment");
  const wallet = await makeDatabase(parts, clusterUrl, "wallet");
  await fillWallets(wallet.adminUrl, ledger.orgId, ledger.wallets);

  const auth = await parts.use(startFakeAuthServer());
  const authAddress = `127.0.0.1:${auth.port}`;
  const processes = new Map<ServiceName, ChildProcess>();
  const start = async (name: ServiceName, settings: object) => {
    const child = startService(name, settings);
    processes.set(name, child);
    parts.onClose(() => stop(child));
    return (await next<{ port: number }>(child)).port;
  };
  const rpc = async (name: ServiceName, settings: object) => `127.0.0.1:${await start(name, settings)}`;

  const LEDGER_ADDRESS = await rpc("ledger", { ...LEDGER, DATABASE_URL: ledger.url });
  const horizon = { SIGNING_HORIZON_MS: 3_600_000, KEK_PATH: parts.kekFile() };
  const signing = Object.entries(LIMITS).map(([limit, won]) => [`SIGNING_LIMIT_${limit}`, won]);
  const ofWallet = { ...TOKEN, ...horizon, ...Object.fromEntries(signing), LEDGER_ADDRESS };
  const WALLET_ADDRESS = await rpc("wallet", { ...ofWallet, DATABASE_URL: wallet.url });
  const others = { AUTH_ADDRESS: authAddress, RELAYER_ADDRESS: authAddress, EVENTS_ADDRESS: authAddress };
  const addresses = { ...others, LEDGER_ADDRESS, WALLET_ADDRESS };
  const ofPayment = { ...TOKEN, PAYMENT_MANAGER_ADDRESS: TOKEN.TOKEN_ADDRESS, NETWORK: "WON_TESTNET" };
  const PAYMENT_ADDRESS = await rpc("payment", { ...ofPayment, ...addresses, DATABASE_URL: payment.url });
  const port = await start("gateway", { ...GATEWAY, NODE_ENV: "production", ...addresses, PAYMENT_ADDRESS });

  return {
    url: `http://127.0.0.1:${port}`,
    apiKey: auth.addKey({ orgId: ledger.orgId }).text,
    /** The most memory that each process has had, in MB. */
    async peaks(): Promise<[ServiceName, number][]> {
      const found: [ServiceName, number][] = [];
      for (const [name, child] of processes) {
        const answer = next<{ peakBytes: number }>(child);
        child.send("peak");
        found.push([name, (await answer).peakBytes / 1024 / 1024]);
      }
      return found;
    },
  };
}

function makeDatabase({ database }: Parts, clusterUrl: string, schema: "payment" | "wallet") {
  return database({ clusterUrl, schema, migrations: join(SERVICES, schema, "migrations") });
}

async function fillWallets(adminUrl: string, orgId: string, walletIds: string[]): Promise<void> {
  const db = open(adminUrl, "wallet");
  await db.run(
    rawSql(`
      insert into wallet.wallets (org_id, wallet_id, user_id, wallet_type, address, key_index, status)
      select '${orgId}', id, 'user-' || n, 'NORMAL', '0x' || lpad(to_hex(n), 40, '0'), n, 'ACTIVE'
      from unnest('{${walletIds.join(",")}}'::text[]) with ordinality as w (id, n)`),
  );
  await db.close();
}

/** Starts compiled files with the settings of production: a compiler would take memory too. */
function startService(name: ServiceName, settings: object): ChildProcess {
  const production = { NODE_ENV: "production", MALLOC_ARENA_MAX: "1" };
  return fork(join(ROOT, "e2e/dist/load/reports/serve.js"), {
    execArgv: nodeFlags(name),
    env: { ...process.env, ...production, SERVICE: name, SETTINGS: JSON.stringify(settings) },
  });
}

/** The next message of a process. */
function next<T>(child: ChildProcess): Promise<T> {
  return new Promise((resolve, reject) => {
    const onExit = (code: number | null) => reject(new Error(`a service ended with ${code}`));
    child.once("exit", onExit);
    child.once("message", (message) => {
      child.off("exit", onExit);
      resolve(message as T);
    });
  });
}

async function stop(child: ChildProcess): Promise<void> {
  const ended = new Promise((resolve) => child.once("exit", resolve));
  child.kill("SIGTERM");
  await ended;
}
