import { ConflictError } from "@wonrail/sdk";

const USER_ID = "cli-example";

/** Returns the example's own NORMAL wallet, and creates it at the first call. */
export async function exampleWallet(client, signal) {
  try {
    return await client.wallets.create({ userId: USER_ID, walletType: "NORMAL" }, { signal });
  } catch (error) {
    if (!(error instanceof ConflictError) || error.code !== "WAL_001") throw error;
    return client.wallets.get(error.details.walletId, { signal });
  }
}
