import { execFile, spawn } from "node:child_process";
import { readFileSync } from "node:fs";
import { join } from "node:path";
import { setTimeout as sleep } from "node:timers/promises";
import { promisify } from "node:util";
import { type Stack } from "@wonrail/local/stackFile";
import { atOnce } from "../../loop";
import { type Http, openHttp } from "../http";
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
  pause(): void;
  resume(): void;
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
    ["services/auth/bin/admin.mjs", ...ORGANISATION.split(" ")],
    { cwd: folder, env: { ...env, DATABASE_URL: stack.postgres.urls.auth } },
  );
  const { apiKey } = JSON.parse(stdout) as { apiKey: string };
  return {
    wallets: await fillWallets(stack.gatewayUrl, apiKey, walletCount),
    open: (connections) => openHttp(stack.gatewayUrl, { "x-api-key": apiKey }, connections),
    processorSeconds: () => processorSeconds(root),
    settledOperations: () => countLogs(stack.chain.rpcUrl, stack.chain.paymentManagerAddress),
    pause: () => signalTree(root, "SIGSTOP"),
    resume: () => signalTree(root, "SIGCONT"),
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
  const launcher = readFileSync(join(folder, "deploy/local/src/commands/up.ts"), "utf8");
  const word = /--bus kafka\|(\w+)/.exec(launcher)?.[1];
  if (word === undefined) throw new Error(`The launcher of ${folder} does not name its buses.`);
  return ["--bus", word];
}

async function fillWallets(gatewayUrl: string, apiKey: string, count: number): Promise<Wallet[]> {
  const post = async (path: string, body: object): Promise<unknown> => {
    const response = await fetch(gatewayUrl + path, {
      method: "POST",
      headers: { "X-API-Key": apiKey, "Content-Type": "application/json" },
      body: JSON.stringify(body),
    });
    const answer = (await response.json()) as { success: boolean; data: unknown; error: unknown };
    if (!answer.success) throw new Error(`POST ${path}: ${JSON.stringify(answer.error)}`);
    return answer.data;
  };
  const wallets: Wallet[] = [];
  await atOnce(8, count, async (number) => {
    const wallet = (await post("/api/wallets", {
      userId: `user-${number}`,
      walletType: "NORMAL",
    })) as Wallet;
    await post("/api/wallets/charge", { walletId: wallet.walletId, amount: MUCH_WON });
    wallets.push(wallet);
  });
  // The first payment of a user creates an INCENTIVE wallet, which is not part of the measurement.
  await atOnce(8, count, async (number) => {
    const [payer, receiver] = [wallets[number]!, wallets[(number + 1) % count]!];
    const ids = { payerWalletId: payer.walletId, receiverWalletId: receiver.walletId };
    await post("/api/wallets/payment", { ...ids, amount: 100 });
  });
  return wallets;
}

async function countLogs(rpcUrl: string, address: string): Promise<number> {
  const filter = { address, fromBlock: "0x0", toBlock: "latest" };
  const response = await fetch(rpcUrl, {
    method: "POST",
    headers: { "Content-Type": "application/json" },
    body: JSON.stringify({ jsonrpc: "2.0", id: 1, method: "eth_getLogs", params: [filter] }),
  });
  const { result } = (await response.json()) as { result: unknown[] };
  return result.length;
}
