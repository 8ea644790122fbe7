import { randomUUID } from "node:crypto";
import type { OpenPeer } from "./peer";
import { postJson } from "./http";

/**
 * Blnk with one balance per account and POST /transactions in its synchronous mode, which answers
 * after the write.
 */
export const blnk: OpenPeer = async (address, accounts) => {
  const run = randomUUID().slice(0, 8);
  const { ledger_id } = (await postJson(`${address}/ledgers`, { name: `bench ${run}` })) as {
    ledger_id: string;
  };
  const balances: string[] = [];
  const send = (source: string, destination: string, amount: number, overdraft: boolean) =>
    postJson(`${address}/transactions`, {
      amount,
      precision: 1,
      currency: "KRW",
      reference: randomUUID(),
      source,
      destination,
      description: "bench",
      allow_overdraft: overdraft,
      skip_queue: true,
    });
  for (let number = 0; number < accounts; number += 1) {
    const { balance_id } = (await postJson(`${address}/balances`, { ledger_id, currency: "KRW" })) as {
      balance_id: string;
    };
    balances.push(balance_id);
    await send(`@world-${run}`, balance_id, 1_000_000_000, true);
  }
  return {
    async transfer(from, to) {
      await send(balances[from]!, balances[to]!, 10, false);
    },
    async close() {},
  };
};
