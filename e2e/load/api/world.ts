import { execFile } from "node:child_process";
import { readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { setTimeout as sleep } from "node:timers/promises";
import { promisify } from "node:util";
import { buildWorld, type Parts } from "@wonrail/kit/testing/buildWorld";
import { cliEnvironment } from "@wonrail/local/cliEnvironment";
import { randomFreePort } from "@wonrail/local/process/freePort";
import { ROOT } from "../../ops/repository";
import { type Api, type Json } from "../../support/api";
import { newOrganisation } from "../../support/operators";
import { startInstance } from "../../support/startInstance";
import { startStack } from "../../support/startStack";
import { runConcurrently } from "../loop";
import { makeLogFiles } from "../postgres";
import { type Http, openHttp } from "./http";

export interface Wallet {
  walletId: string;
  walletAddress: string;
}

/** A running stack with an organisation whose users have enough money for every run. */
export interface World {
  wallets: Wallet[];
  orgId: string;
  apiKey: string;
  authAddress: string;
  ledgerAddress: string;
  /** The address at which payment serves its metrics. */
  paymentOps: string;
  open(connections: number): Http;
  api: Api;
  /**
   * Starts a second gateway with a second payment service, which end with the world. Returns a
   * client for it.
   */
  startSecondPair(): Promise<(connections: number) => Http>;
  /** Starts or pauses the settlement of posted entries. Initially paused. */
  settle(state: "pause" | "resume"): Promise<void>;
  /** CPU seconds of each process of the stack so far, PostgreSQL's added up. */
  cpu(): Promise<Record<string, number>>;
  memoryMb(): Promise<Record<string, number>>;
  close(): Promise<void>;
}

/** Enough for every run, and for a thousand wallets within the issuer's mint limit. */
const MUCH_WON = 100_000_000;
const LIMITS = ["--daily-limit", "9000000000000", "--daily-charge-limit", "9000000000000"];
const PLENTY = [...LIMITS, "--rate", "100000", "--burst", "100000"];

export function createWorld(count: number): Promise<World> {
  return buildWorld((parts) => buildStack(parts, count));
}

async function buildStack(parts: Parts, count: number): Promise<Omit<World, "close">> {
  const stack = await startStack();
  parts.onClose(() => stack.stop());
  const { gatewayUrl, services, postgres } = stack.stack();
  await makeLogFiles(postgres.urls.admin!);
  const { api, apiKey, orgId } = await newOrganisation(stack.stack(), ...PLENTY, "--incentive-bps", "100");
  const settle = async (state: "pause" | "resume"): Promise<void> => {
    const script = join(ROOT, "services/chain-relayer/bin/admin.mjs");
    const env = { ...process.env, ...cliEnvironment(stack.stack()) };
    const args = [state, orgId, "--reason", "bench"];
    // The queue exists once the relayer knows the organisation's first entry.
    await untilDone(() => promisify(execFile)(process.execPath, [script, "queue", ...args], { env }));
  };
  const wallets: Wallet[] = [];
  const fill = async (number: number): Promise<void> => {
    const made: Json = await api.post("/api/wallets", { userId: `user-${number}`, walletType: "NORMAL" });
    await api.post("/api/wallets/charge", { walletId: made.walletId, amount: MUCH_WON });
    wallets.push(made);
  };
  // Pauses settlement from here on, so that the funding is not part of the figures.
  await fill(0);
  await settle("pause");
  await runConcurrently(16, count - 1, (number) => fill(number + 1));
  // Creates the INCENTIVE wallets before the measurement, by a first payment of each user.
  await runConcurrently(16, count, async (number) => {
    const [payer, receiver] = [wallets[number]!, wallets[(number + 1) % count]!];
    const ids = { payerWalletId: payer.walletId, receiverWalletId: receiver.walletId };
    await api.post("/api/wallets/payment", { ...ids, amount: 100 });
  });
  const pids = async () =>
    Object.fromEntries((await stack.statuses()).map(({ name, pid }) => [name, pid ?? 0]));
  const open = (url: string) => (connections: number) => openHttp(url, { "x-api-key": apiKey }, connections);
  const startSecond = async (name: "payment" | "gateway", pid: number, settings: Record<string, string>) => {
    const child = await startInstance(name, pid, settings);
    parts.onClose(() => child.kill("SIGKILL"));
  };
  return {
    wallets,
    orgId,
    apiKey,
    api,
    authAddress: services.auth!.grpc!,
    ledgerAddress: services.ledger!.grpc!,
    paymentOps: services.payment!.ops,
    open: open(gatewayUrl),
    async startSecondPair() {
      const { gateway, payment } = await pids();
      const [grpc, http] = [await randomFreePort(), await randomFreePort()];
      const address = `127.0.0.1:${grpc}`;
      await startSecond("payment", payment!, { GRPC_PORT: String(grpc) });
      const settings = { HTTP_PORT: String(http), PAYMENT_ADDRESS: address };
      await startSecond("gateway", gateway!, settings);
      return open(`http://127.0.0.1:${http}`);
    },
    settle,
    async cpu() {
      const { postgres: server, ...processes } = await pids();
      const seconds = Object.entries(processes).map(([name, pid]) => [name, cpuSeconds(pid)]);
      const database = treeOf(server ?? 0).reduce((sum, pid) => sum + cpuSeconds(pid), 0);
      return { ...Object.fromEntries(seconds), postgres: database };
    },
    async memoryMb() {
      return Object.fromEntries(Object.entries(await pids()).map(([name, pid]) => [name, residentMb(pid)]));
    },
  };
}

const TICKS_PER_SECOND = 100;

/** Includes ended children, because a pool replaces its connections. */
function cpuSeconds(pid: number): number {
  const ticks = statOf(pid).slice(11, 15);
  return ticks.reduce((sum, each) => sum + Number(each), 0) / TICKS_PER_SECOND;
}

/** A process with its children: PostgreSQL has one per connection. */
function treeOf(root: number): number[] {
  const all = readdirSync("/proc")
    .filter((name) => /^\d+$/.test(name))
    .map(Number);
  return all.filter((pid) => pid === root || Number(statOf(pid)[1] ?? 0) === root);
}

/** Fields after the name, which may contain spaces; empty for an ended process. */
function statOf(pid: number): string[] {
  try {
    const stat = readFileSync(`/proc/${pid}/stat`, "utf8");
    return stat.slice(stat.lastIndexOf(")") + 2).split(" ");
  } catch {
    return [];
  }
}

function residentMb(pid: number): number {
  try {
    return Number(/^VmRSS:\s+(\d+)/m.exec(readFileSync(`/proc/${pid}/status`, "utf8"))?.[1] ?? 0) / 1024;
  } catch {
    return 0;
  }
}

async function untilDone(work: () => Promise<unknown>): Promise<void> {
  for (let triesLeft = 20; ; triesLeft -= 1) {
    try {
      return void (await work());
    } catch (error) {
      if (triesLeft === 0) throw error;
      await sleep(500);
    }
  }
}
