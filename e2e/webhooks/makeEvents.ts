import { randomUUID } from "node:crypto";
import { type Api } from "../support/api";

const PARTS = 3;

/** A wallet with two charges that are cancelled in parts. Returns the ids of the objects that have events. */
export async function makeEvents(api: Api): Promise<string[]> {
  const { walletId } = await api.post("/api/wallets", { userId: randomUUID(), walletType: "NORMAL" });
  const ids: string[] = [walletId];
  for (let made = 0; made < 2; made += 1) {
    const { chargeId } = await api.post("/api/wallets/charge", { walletId, amount: 10_000 });
    for (let part = 0; part < PARTS; part += 1)
      await api.post("/api/wallets/charge/cancel", { chargeId, amount: 1_000 });
    ids.push(chargeId);
  }
  return ids;
}
