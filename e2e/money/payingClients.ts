import { randomUUID } from "node:crypto";
import { setTimeout as sleep } from "node:timers/promises";
import { type Api } from "../support/api";
import { available, openWallet } from "./scenes";
import { settle } from "./settle";

export interface PayingClients {
  /** Waits for this many additional payments. */
  untilMore(payments: number): Promise<void>;
  /** Ends the clients. Returns what the receiver must have and what it has. */
  stop(): Promise<{ paidWon: number; receivedWon: number }>;
}

const CLIENTS = 4;
const AMOUNT_WON = 100;
/** Leaves processor time to starting processes. */
const PAUSE_MS = 250;
const PATIENCE_MS = 60_000;

/** Clients that pay under keys of their own, and repeat each request until its outcome is known. */
export async function startPayingClients(api: Api): Promise<PayingClients> {
  const [payer, receiver] = [await openWallet(api, 1_000_000_000), await openWallet(api, 0)];
  const ids = { payerWalletId: payer.walletId, receiverWalletId: receiver.walletId };
  const order = { ...ids, amount: AMOUNT_WON };
  let isRunning = true;
  let paid = 0;
  const clients = Array.from({ length: CLIENTS }, async () => {
    for (; isRunning; await sleep(PAUSE_MS)) {
      const answer = await settle(api, "/api/wallets/payment", order, randomUUID());
      expect(answer.status).toBe(201);
      paid += 1;
    }
  });
  const working = Promise.all(clients);
  // A failure is reported by the next wait or by the stop.
  working.catch(() => undefined);

  return {
    async untilMore(payments) {
      const goal = paid + payments;
      for (const endMs = Date.now() + PATIENCE_MS; paid < goal; await sleep(20)) {
        if (Date.now() > endMs) throw new Error(`only ${paid} of ${goal} payments have an outcome`);
      }
    },
    async stop() {
      isRunning = false;
      await working;
      return { paidWon: paid * AMOUNT_WON, receivedWon: await available(api, receiver.walletId) };
    },
  };
}
