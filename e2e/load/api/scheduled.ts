import { setTimeout as sleep } from "node:timers/promises";
import { type Json } from "../../support/api";
import { runConcurrently } from "../loop";
import { atMost, type Result } from "../report";
import { type World } from "./world";

const COUNT = 200;
const DUE_IN_MS = 10_000;
const LATEST_MS = 60_000;
const TOKEN_UNITS = "100000000";

/** Transfers that are all due at one moment: time until each was sent. */
export async function scheduled({ api, wallets }: World): Promise<Result[]> {
  const dueMs = Date.now() + DUE_IN_MS;
  const ids: string[] = [];
  await runConcurrently(16, COUNT, async (number) => {
    const [from, to] = [wallets[number % wallets.length]!, wallets[(number + 1) % wallets.length]!];
    const { id } = await api.post("/api/transaction", {
      ...{ fromNetworkType: "WON_TESTNET", toNetworkType: "WON_TESTNET", paymentType: "SCHEDULED" },
      ...{ fromAddress: from.walletAddress, toAddress: to.walletAddress, amount: TOKEN_UNITS },
      scheduledAt: new Date(dueMs).toISOString(),
    });
    ids.push(id);
  });
  await sleep(Math.max(0, dueMs - Date.now()) + 2_000);
  const late: number[] = [];
  await runConcurrently(4, COUNT, async (number) => late.push((await sentAtMs(api, ids[number]!)) - dueMs));
  late.sort((one, other) => one - other);
  const note = `${COUNT} at one moment; the first after ${late[0]!.toFixed(0)} ms`;
  return [atMost("scheduled.late_ms", late.at(-1)!, "ms", 2_000, note)];
}

async function sentAtMs(api: World["api"], id: string): Promise<number> {
  for (const endMs = Date.now() + LATEST_MS; Date.now() < endMs; await sleep(250)) {
    const { history, status, failureReason }: Json = await api.get(`/api/transaction/${id}`);
    const sent = history.find(({ changedBy }: Json) => changedBy === "SCHEDULER");
    if (status === "FAILED") throw new Error(`a scheduled transfer failed: ${failureReason}`);
    if (sent) return Date.parse(sent.changedAt);
  }
  throw new Error("a scheduled transfer was not sent");
}
