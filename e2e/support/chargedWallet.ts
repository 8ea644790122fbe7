import { type Api, type Json } from "./api";

let users = 0;
export async function wallet(api: Api, walletType = "NORMAL", user?: string): Promise<Json> {
  users += 1;
  return api.post("/api/wallets", { userId: user ?? `user-${users}`, walletType });
}

export async function charged(api: Api, amount: number, user?: string): Promise<Json> {
  const made = await wallet(api, "NORMAL", user);
  const charge = await api.post("/api/wallets/charge", { walletId: made.walletId, amount });
  return { ...made, chargeId: charge.chargeId };
}
