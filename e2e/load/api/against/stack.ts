import { execFile, spawn } from "node:child_process";
import { existsSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { setTimeout as sleep } from "node:timers/promises";
import { promisify } from "node:util";
import { id, toQuantity } from "ethers";
import { type Stack } from "@wonrail/local/stackFile";
import { runConcurrently } from "../../loop";
import { reasonFor } from "../../../upgrade/release";
import { type Http, openHttp } from "../http";
import { paymentOf } from "../sections";
import { type Wallet } from "../world";
import { processorSeconds, signalTree } from "./processes";

/** Kafka, only the feeds ("none"), or Kafka if the machine can run it (undefined). */
export type Bus = "kafka" | "none" | undefined;

const READY_MS = 600_000;
const MUCH_WON = 50_000_000;
const ORGANISATION =
  "org create --name Bench --code BENCH --plan ENTERPRISE --rate 100000 --burst 100000 --daily-limit " +
  "9000000000000 --incentive-bps 100 --json";

/** A whole stack of one commit, as `make up` starts it, with an organisation whose wallets hold money. */
export interface RunningStack {
  wallets: Wallet[];
  open(connections: number): Http;
  processorSeconds(): Map<string, number>;
  /** Operations that the payment manager executed so far, read from the chain's logs. */
  settledOperations(): Promise<number>;
  /** Stops the processes, or those of one kind, by a signal. */
  pause(kind?: string): void;
  resume(kind?: string): void;
  stop(): Promise<void>;
}

export async function startStackOf(
  folder: string,
  home: string,
  bus: Bus,
  walletCount: number,
): Promise<RunningStack> {
  const env = { ...process.env, WONRAIL_HOME: home, CI: "true" };
  const options = ["--attached", ...busOptions(folder, bus)];
  const up = spawn(process.execPath, ["deploy/local/bin/up.mjs", ...options], {
    cwd: folder,
    env,
    stdio: ["pipe", "pipe", "pipe"],
  });
  const exited = new Promise<void>((resolve) => up.once("exit", () => resolve()));
  let output = "";
  for (const stream of [up.stdout, up.stderr])
    stream.on("data", (text: Buffer) => (output += text.toString()));
  for (const endMs = Date.now() + READY_MS; !output.includes("Stop with Ctrl-C."); await sleep(200)) {
    if (up.exitCode === null && Date.now() < endMs) continue;
    up.kill("SIGKILL");
    throw new Error(`The stack of ${folder} did not start:\n${output}`);
  }
  const root = up.pid!;
  const stack = JSON.parse(readFileSync(join(home, "stack.json"), "utf8")) as Stack;
  const { stdout } = await promisify(execFile)(
    process.execPath,
    ["services/auth/bin/admin.mjs", ...ORGANISATION.split(" "), ...reasonFor(folder)],
    { cwd: folder, env: { ...env, DATABASE_URL: stack.postgres.urls.auth } },
  );
  const { apiKey } = JSON.parse(stdout) as { apiKey: string };
  const call = callerOf(stack.gatewayUrl, apiKey);
  const wallets = await fillWallets(call, walletCount);
  return {
    wallets,
    open: (connections) => openHttp(stack.gatewayUrl, { "x-api-key": apiKey }, connections),
    processorSeconds: () => processorSeconds(root),
    settledOperations: operationCounter(stack.chain.rpcUrl, stack.chain.paymentManagerAddress),
    pause: (kind) => signalTree(root, "SIGSTOP", kind),
    resume: (kind) => signalTree(root, "SIGCONT", kind),
    async stop() {
      signalTree(root, "SIGCONT");
      up.kill("SIGTERM");
      await exited;
    },
  };
}

/**
 * Commits use different words for a stack without Kafka; the launcher's help text has the right
 * one.
 */
function busOptions(folder: string, bus: Bus): string[] {
  if (bus !== "none") return bus === undefined ? [] : ["--bus", bus];
  const files = ["cli/localCommands.ts", "commands/up.ts"].map((file) =>
    join(folder, "deploy/local/src", file),
  );
  const help = files.filter(existsSync).map((file) => readFileSync(file, "utf8"));
  const word = /--bus kafka\|(\w+)/.exec(help.join("\n"))?.[1];
  if (word === undefined) throw new Error(`The launcher of ${folder} does not name its buses.`);
  return ["--bus", word];
}

type Call = (method: "GET" | "POST", path: string, body?: object) => Promise<unknown>;

function callerOf(gatewayUrl: string, apiKey: string): Call {
  return async (method, path, body) => {
    const headers = { "X-API-Key": apiKey, "Content-Type": "application/json" };
    const options = { method, headers, ...(body && { body: JSON.stringify(body) }) };
    const response = await fetch(gatewayUrl + path, options);
    const answer = (await response.json()) as { success: boolean; data: unknown; error: unknown };
    if (!answer.success) throw new Error(`${method} ${path}: ${JSON.stringify(answer.error)}`);
    return answer.data;
  };
}

async function fillWallets(call: Call, count: number): Promise<Wallet[]> {
  const wallets: Wallet[] = [];
  await runConcurrently(8, count, async (number) => {
    const user = { userId: `user-${number}`, walletType: "NORMAL" };
    const wallet = (await call("POST", "/api/wallets", user)) as Wallet;
    await call("POST", "/api/wallets/charge", { walletId: wallet.walletId, amount: MUCH_WON });
    wallets.push(wallet);
  });
  // The first payment of a user creates an INCENTIVE wallet, which is not part of the measurement.
  await runConcurrently(8, count, async (number) => {
    const [payer, receiver] = [wallets[number]!, wallets[(number + 1) % count]!];
    await call("POST", "/api/wallets/payment", paymentOf(payer, receiver));
  });
  return wallets;
}

interface Log {
  topics: string[];
}

/** Each count reads only the blocks since the last one, so that counting costs the chain node little. */
function operationCounter(rpcUrl: string, address: string): () => Promise<number> {
  const executed = id("OperationExecuted(bytes32)");
  let nextBlock = 0;
  let count = 0;
  return async () => {
    const head = Number(await rpc<string>(rpcUrl, "eth_blockNumber"));
    if (head < nextBlock) return count;
    const blocks = { fromBlock: toQuantity(nextBlock), toBlock: toQuantity(head) };
    const logs = await rpc<Log[]>(rpcUrl, "eth_getLogs", { address, topics: [executed], ...blocks });
    nextBlock = head + 1;
    return (count += logs.length);
  };
}

async function rpc<Result>(url: string, method: string, ...params: object[]): Promise<Result> {
  const response = await fetch(url, {
    method: "POST",
    headers: { "Content-Type": "application/json" },
    body: JSON.stringify({ jsonrpc: "2.0", id: 1, method, params }),
  });
  const { result, error } = (await response.json()) as { result: Result; error?: unknown };
  if (error !== undefined) throw new Error(`${method}: ${JSON.stringify(error)}`);
  return result;
}
