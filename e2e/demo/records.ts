import { setTimeout as sleep } from "node:timers/promises";
import { type Json } from "../support/api";
import { type Cast, OUTSIDE } from "./money";
import { krw, screen } from "./screen";
import { showBalances, until, type Demo } from "./demo";

const DUE_IN_MS = 6_000;
const UNITS_PER_KRW = 1_000_000n;

/** The transaction recording API: a hash that the chain confirms, and a scheduled transfer. */
export async function recordsChapter(demo: Demo, { alice, shop }: Cast): Promise<void> {
  screen.chapter("Recorded transactions");
  await recordInstant(demo, alice);
  await recordScheduled(demo, { alice, shop });
}

/** The record names the transfer that has just been sent: sender, receiver and amount must match it. */
async function recordInstant({ api }: Demo, alice: Json): Promise<void> {
  const body = { fromWalletId: alice.walletId, toWalletAddress: OUTSIDE, amount: 300 };
  const { transferId } = await api.post("/api/wallets/transfer", body);
  const { settlement } = await until(
    () => api.get(`/api/wallets/transfer/${transferId}`),
    (transfer) => transfer.settlement.txHash !== null,
  );
  const recorded = await api.post("/api/transaction", {
    paymentType: "INSTANT",
    txHash: settlement.txHash,
    ...onOurNetwork(alice.walletAddress, OUTSIDE, 300),
  });
  screen.line(`INSTANT ${recorded.id}, hash ${recorded.txHash}: ${recorded.status}`);
  const confirmed = await settled(api, recorded.id);
  screen.done(`the chain says ${confirmed.status}, nobody had to`);
}

async function recordScheduled(demo: Demo, { alice, shop }: Pick<Cast, "alice" | "shop">): Promise<void> {
  const { api } = demo;
  // The clock of the sandbox decides, and a guide may have advanced it.
  const clock = await api.post("/api/sandbox/clocks", undefined);
  const dueMs = Date.parse(clock.time as string) + DUE_IN_MS;
  const scheduled = await api.post("/api/transaction", {
    paymentType: "SCHEDULED",
    scheduledAt: new Date(dueMs).toISOString(),
    ...onOurNetwork(alice.walletAddress, shop.walletAddress, 700),
    memo: "rent",
  });
  screen.line(`SCHEDULED ${scheduled.id}, ${krw(700)} to the shop at ${scheduled.scheduledAt}`);
  await showBalances(demo, { alice, shop });
  await sleep(DUE_IN_MS);
  const executed = await settled(api, scheduled.id);
  screen.done(`executed when it was due and ${executed.status}: ${executed.txHash}`);
  await showBalances(demo, { alice, shop });
}

function onOurNetwork(fromAddress: string, toAddress: string, amountKrw: number) {
  const network = { fromNetworkType: "WON_TESTNET", toNetworkType: "WON_TESTNET" };
  return { ...network, fromAddress, toAddress, amount: (BigInt(amountKrw) * UNITS_PER_KRW).toString() };
}

async function settled(api: Demo["api"], id: string): Promise<Json> {
  const record = await until(
    () => api.get(`/api/transaction/${id}`),
    ({ status }) => status !== "PENDING",
  );
  if (record.status !== "CONFIRMED") throw new Error(`${id} is ${record.status}: ${record.failureReason}`);
  return record;
}
