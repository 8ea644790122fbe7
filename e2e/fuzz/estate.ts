import { randomBytes } from "node:crypto";
import { eventually } from "@wonrail/kit/testing";
import { type Stack } from "@wonrail/local/stackFile";
import { type Api, type Json } from "../support/api";
import { newOrganisation, type NewOrganisation } from "../support/operators";
import { type Foreign } from "../money/foreignIds";

/** An organisation with objects of every kind, and their ids by prefix. */
export interface Estate extends NewOrganisation {
  ids: Record<keyof Foreign, string[]>;
  addresses: string[];
}

const AT_ONCE = 8;
const CHARGE_WON = 100_000;
const WON = 1_000;
/** An organisation has a limited number of webhooks and keys. */
const MOST_WEBHOOKS = 10;

/** Makes `count` objects of each kind through the public API. */
export async function makeEstate(stack: Stack, count: number): Promise<Estate> {
  const organisation = await newOrganisation(stack);
  const { api } = organisation;
  const each = <T>(work: (index: number) => Promise<T>) => inParallel(count, work);
  const wallets = await inParallel(2 * count, (index) => createWallet(api, `user ${index}`));
  const [payers, receivers] = [wallets.slice(0, count), wallets.slice(count)];
  const charges = await each((index) => charge(api, payers[index]!.walletId));
  const pay = (index: number) => payBetween(api, payers[index]!.walletId, receivers[index]!.walletId);
  const [paid, cancelled, returned] = [await each(pay), await each(pay), await each(pay)];
  const idOf = async (path: string, body: object, name: string): Promise<string> =>
    (await api.post<Json>(path, body))[name] as string;
  const transfer = (index: number) => ({
    fromWalletId: payers[index]!.walletId,
    toWalletAddress: receivers[index]!.walletAddress,
    amount: WON,
  });
  const ids: Estate["ids"] = {
    wal: wallets.map(({ walletId }) => walletId),
    chg: charges,
    pay: [...paid, ...cancelled, ...returned],
    trf: await each((index) => idOf("/api/wallets/transfer", transfer(index), "transferId")),
    ccl: await each((index) =>
      idOf("/api/wallets/charge/cancel", { chargeId: charges[index], amount: WON }, "cancelId"),
    ),
    pcl: await each((index) =>
      idOf("/api/wallets/payment/cancel", { paymentId: cancelled[index] }, "cancelId"),
    ),
    prf: await each((index) =>
      idOf("/api/wallets/payment/refund", { paymentId: returned[index], amount: 100 }, "refundId"),
    ),
    rfd: await each((index) => refund(api, `refunded ${index}`)),
    pyo: await each((index) => payout(api, transfer(index))),
    txn: await each((index) => idOf("/api/transaction", record(payers[index]!.walletAddress), "id")),
    key: await each((index) =>
      idOf("/api/wallet-auth/keys", { name: `key ${index}`, scopes: READ }, "keyId"),
    ),
    whk: await inParallel(Math.min(count, MOST_WEBHOOKS), () => idOf("/api/webhooks", HOOK, "webhookId")),
    evt: await firstEvents(api, count),
  };
  return { ...organisation, ids, addresses: wallets.map(({ walletAddress }) => walletAddress) };
}

const READ = ["payments:read"];
const HOOK = { url: "http://127.0.0.1:9/hook", status: "DISABLED" };

interface WalletIds {
  walletId: string;
  walletAddress: string;
}

function createWallet(api: Api, userId: string): Promise<WalletIds> {
  return api.post("/api/wallets", { userId, walletType: "NORMAL" });
}

async function charge(api: Api, walletId: string): Promise<string> {
  return (await api.post<{ chargeId: string }>("/api/wallets/charge", { walletId, amount: CHARGE_WON }))
    .chargeId;
}

async function payBetween(api: Api, payerWalletId: string, receiverWalletId: string): Promise<string> {
  const body = { payerWalletId, receiverWalletId, amount: 2 * WON };
  return (await api.post<{ paymentId: string }>("/api/wallets/payment", body)).paymentId;
}

async function refund(api: Api, userId: string): Promise<string> {
  const { walletId } = await createWallet(api, userId);
  await charge(api, walletId);
  return (await api.post<{ refundId: string }>("/api/wallets/charge/refund", { walletId })).refundId;
}

async function payout(
  api: Api,
  transfer: { fromWalletId: string; toWalletAddress: string },
): Promise<string> {
  const rows = [{ toWalletAddress: transfer.toWalletAddress, amount: WON }];
  const body = { fromWalletId: transfer.fromWalletId, dryRun: true, rows };
  return (await api.post<{ payoutId: string }>("/api/payouts", body)).payoutId;
}

/** A transaction of a network that the service does not watch. */
function record(address: string): object {
  return {
    ...{ fromNetworkType: "BASE_SEPOLIA", toNetworkType: "BASE_SEPOLIA", paymentType: "INSTANT" },
    ...{ fromAddress: address, toAddress: address, amount: "1000000" },
    txHash: `0x${randomBytes(32).toString("hex")}`,
  };
}

function firstEvents(api: Api, count: number): Promise<string[]> {
  const limit = Math.min(count, 100);
  return eventually(
    async () => {
      const { items } = await api.get<{ items: { eventId: string }[] }>(`/api/events?limit=${limit}`);
      if (items.length < limit) throw new Error(`only ${items.length} events yet`);
      return items.map(({ eventId }) => eventId);
    },
    { timeoutMs: 60_000 },
  );
}

/** Runs the work for each number from 0, several at a time, and keeps the order of the results. */
export async function inParallel<T>(
  count: number,
  work: (index: number) => Promise<T>,
  atOnce = AT_ONCE,
): Promise<T[]> {
  const results: T[] = [];
  let next = 0;
  const worker = async (): Promise<void> => {
    while (next < count) {
      const index = next;
      next += 1;
      results[index] = await work(index);
    }
  };
  await Promise.all(Array.from({ length: atOnce }, worker));
  return results;
}
