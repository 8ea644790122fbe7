import { execFile } from "node:child_process";
import { readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { promisify } from "node:util";
import { type Json } from "../../support/api";
import { newOrganisation } from "../../support/operators";
import { startStack } from "../../support/startStack";
import { type Http, openHttp } from "./http";

export interface Wallet {
  walletId: string;
  walletAddress: string;
}

/** A running stack with an organisation whose users have money enough for every run. */
export interface World {
  wallets: Wallet[];
  orgId: string;
  ledgerAddress: string;
  open(connections: number): Http;
  /** Whether the chain settles what is posted. */
  settle(state: "pause" | "resume"): Promise<void>;
  /** CPU seconds of each process of the stack so far, PostgreSQL's added up. */
  cpu(): Promise<Record<string, number>>;
  memoryMb(): Promise<Record<string, number>>;
  close(): Promise<void>;
}

const REPOSITORY = join(__dirname, "../../..");
const MUCH_WON = 9_000_000_000;
const PLENTY = ["--daily-limit", "9000000000000", "--rate", "100000", "--burst", "100000"];

export async function createWorld(count: number): Promise<World> {
  const stack = await startStack({ bus: "postgres" });
  const { gatewayUrl, services, postgres } = stack.stack();
  const { api, apiKey, orgId } = await newOrganisation(stack.stack(), ...PLENTY, "--incentive-bps", "100");
  const wallets: Wallet[] = [];
  await atOnce(16, count, async (number) => {
    const made: Json = await api.post("/api/wallets", { userId: `user-${number}`, walletType: "NORMAL" });
    await api.post("/api/wallets/charge", { walletId: made.walletId, amount: MUCH_WON });
    wallets.push(made);
  });
  const pids = async () =>
    Object.fromEntries((await stack.statuses()).map(({ name, pid }) => [name, pid ?? 0]));
  return {
    wallets,
    orgId,
    ledgerAddress: services.ledger!.grpc!,
    open: (connections) => openHttp(gatewayUrl, { "x-api-key": apiKey }, connections),
    async settle(state) {
      const script = join(REPOSITORY, "services/chain-relayer/bin/admin.mjs");
      const env = { ...process.env, DATABASE_URL: postgres.urls["chain-relayer"] };
      const args = state === "pause" ? ["pause", orgId, "--reason", "bench"] : ["resume", orgId];
      await promisify(execFile)(process.execPath, [script, "lane", ...args], { env });
    },
    async cpu() {
      const { postgres: server, ...processes } = await pids();
      const seconds = Object.entries(processes).map(([name, pid]) => [name, cpuSeconds(pid)]);
      const database = treeOf(server ?? 0).reduce((sum, pid) => sum + cpuSeconds(pid), 0);
      return { ...Object.fromEntries(seconds), postgres: database };
    },
    async memoryMb() {
      return Object.fromEntries(Object.entries(await pids()).map(([name, pid]) => [name, residentMb(pid)]));
    },
    async close() {
      await stack.stop();
    },
  };
}

const TICKS_PER_SECOND = 100;

function cpuSeconds(pid: number): number {
  const fields = statOf(pid);
  return (Number(fields[11] ?? 0) + Number(fields[12] ?? 0)) / TICKS_PER_SECOND;
}

/** A process and its children: PostgreSQL has one for each connection. */
function treeOf(root: number): number[] {
  const all = readdirSync("/proc")
    .filter((name) => /^\d+$/.test(name))
    .map(Number);
  return all.filter((pid) => pid === root || Number(statOf(pid)[1] ?? 0) === root);
}

/** The fields after the name, which may have spaces in it; none of a process that has ended. */
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

async function atOnce(
  callers: number,
  count: number,
  work: (number: number) => Promise<void>,
): Promise<void> {
  let next = 0;
  const caller = async () => {
    while (next < count) await work(next++);
  };
  await Promise.all(Array.from({ length: callers }, caller));
}
