import { spawn, type ChildProcess } from "node:child_process";
import { createServer } from "node:net";
import { join } from "node:path";
import { createInterface } from "node:readline";

/** The deployed ledger as a separate process that a test may kill. */
export interface Replica {
  address: string;
  /** SIGKILL, and up again on the same port. */
  killAndRestart(): Promise<void>;
  stop(): Promise<void>;
  metrics(): Promise<string>;
}

const MAIN = join(__dirname, "../../main.ts");

export async function startReplica(databaseUrl: string, env: Record<string, string> = {}): Promise<Replica> {
  const [grpcPort, opsPort] = [await freePort(), await freePort()];
  const settings = {
    NODE_ENV: "test",
    DATABASE_URL: databaseUrl,
    BUS: "feed",
    GRPC_HOST: "127.0.0.1",
    GRPC_PORT: `${grpcPort}`,
    OPS_HOST: "127.0.0.1",
    OPS_PORT: `${opsPort}`,
    SHUTDOWN_GRACE_MS: "2000",
    ...env,
  };
  let child = await startProcess(settings);
  return {
    address: `127.0.0.1:${grpcPort}`,
    async killAndRestart() {
      await end(child, "SIGKILL");
      child = await startProcess(settings);
    },
    stop: () => end(child, "SIGTERM"),
    metrics: async () => (await fetch(`http://127.0.0.1:${opsPort}/metrics`)).text(),
  };
}

async function startProcess(settings: Record<string, string>): Promise<ChildProcess> {
  const child = spawn(process.execPath, ["--require", require.resolve("tsx/cjs"), MAIN], {
    env: { PATH: process.env.PATH, ...settings },
    stdio: ["ignore", "pipe", "inherit"],
  });
  await new Promise<void>((resolve, reject) => {
    const lines: string[] = [];
    createInterface({ input: child.stdout }).on("line", (line) => {
      lines.push(line);
      if (line.includes('"msg":"ready"')) resolve();
    });
    child.once("exit", (code) =>
      reject(new Error(`the ledger did not start (${code}): ${lines.join("\n")}`)),
    );
  });
  return child;
}

async function end(child: ChildProcess, signal: NodeJS.Signals): Promise<void> {
  const ended = new Promise((resolve) => child.once("exit", resolve));
  child.kill(signal);
  await ended;
}

const LOWEST_PORT = 20_000;
/** The same number of ports that deploy/local gives to a worker. */
const PORTS_OF_A_WORKER = 1_595;
const given = new Set<number>();

/**
 * Below the kernel's range for outgoing connections, so that none takes the port while the replica
 * is away. Each worker of the test run uses its own range.
 */
async function freePort(): Promise<number> {
  for (let attempt = 0; attempt < 100; attempt += 1) {
    const lowest = LOWEST_PORT + (Number(process.env.JEST_WORKER_ID) % 8) * PORTS_OF_A_WORKER;
    const port = lowest + Math.floor(Math.random() * PORTS_OF_A_WORKER);
    if (given.has(port)) continue;
    given.add(port);
    if (await isFree(port)) return port;
  }
  throw new Error("no port is free");
}

function isFree(port: number): Promise<boolean> {
  return new Promise((resolve) => {
    const server = createServer();
    server.once("error", () => resolve(false));
    server.listen(port, "127.0.0.1", () => server.close(() => resolve(true)));
  });
}
