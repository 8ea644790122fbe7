import { chunksOf } from "@wonrail/kit/chunksOf";
import { type Database } from "@wonrail/kit/db";
import { type ChainEvent } from "../../evm/contracts";
import { findWalletsAt, saveWalletAddresses, type WalletAddress } from "../store/walletAddresses";
import { type WalletClient } from "../../settlement/commands/resolveAddresses";

const AT_ONCE = 1_000;

/** Which of the addresses that occur in these events are our wallets', of whatever organisation. */
export async function learnOwners(
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
  return event.kind === "used" || event.kind === "canceled" ? [event.authorizer] : [];
}
