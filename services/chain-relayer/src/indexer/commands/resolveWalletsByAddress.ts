import { chunksOf } from "@wonrail/kit/chunksOf";
import { type Database } from "@wonrail/kit/db";
import { type PromiseClient } from "@wonrail/kit/grpc/client";
import { type WalletServiceService } from "@wonrail/proto/wallet/v1/wallet";
import { type ChainEvent } from "../../evm";
import { findWalletsAt, saveWalletAddresses, type WalletAddress } from "../store/walletAddresses";

export type WalletClient = PromiseClient<WalletServiceService>;

const AT_ONCE = 1_000;

/** Returns the wallets of any organisation among the addresses of these events. */
export async function resolveWalletsByAddress(
  { db, wallet }: { db: Database; wallet: WalletClient },
  events: ChainEvent[],
): Promise<Map<string, WalletAddress>> {
  const occurring = [...new Set(events.flatMap(addressesOf))];
  const owners = await findWalletsAt(db, occurring);
  const unknown = occurring.filter((address) => !owners.has(address));
  for (const addresses of chunksOf(unknown, AT_ONCE)) {
    const { wallets } = await wallet.findWalletsByAddress({ orgId: "", addresses });
    const found = wallets.map(({ walletId, orgId, walletAddress }) => ({
      walletId,
      orgId,
      address: walletAddress,
    }));
    await saveWalletAddresses(db, found);
    for (const one of found) owners.set(one.address.toLowerCase(), one);
  }
  return owners;
}

function addressesOf(event: ChainEvent): string[] {
  if (event.kind === "transfer") return [event.from, event.to];
  if (event.kind === "block_set") return [event.account];
  return event.kind === "used" || event.kind === "canceled" ? [event.authorizer] : [];
}
