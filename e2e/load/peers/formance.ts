import { randomUUID } from "node:crypto";
import type { OpenPeer } from "./peer";
import { postJson } from "./http";

/** Formance Ledger v2: POST /v2/{ledger}/transactions with plain postings. */
export const formance: OpenPeer = async (address, accounts) => {
  const ledger = `${address}/v2/bench${randomUUID().slice(0, 8)}`;
  await postJson(ledger, {});
  const send = (source: string, destination: string, amount: number) =>
    postJson(`${ledger}/transactions`, { postings: [{ source, destination, amount, asset: "KRW" }] });
  for (let number = 0; number < accounts; number += 1)
    await send("world", `accounts:${number}`, 1_000_000_000);
  return {
    async transfer(from, to) {
      await send(`accounts:${from}`, `accounts:${to}`, 10);
    },
    async close() {},
  };
};
