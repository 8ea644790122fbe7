import { type Tx } from "@wonrail/kit/db";
import { appendEvents } from "@wonrail/kit/outbox";
import { type FinalRange } from "../../indexer";
import { walletBlockChanged } from "../events";
import { saveWalletBlock } from "../store/walletBlocks";

/** Publishes changes of the token's blocklist for our wallets, in the order of the chain. */
export async function recordWalletBlocks(tx: Tx, { events, owners }: FinalRange): Promise<void> {
  for (const event of events) {
    const owner = event.kind === "block_set" ? owners.get(event.account) : undefined;
    if (event.kind !== "block_set" || !owner) continue;
    const { blockNumber, blockHash, logIndex } = event.log;
    const block = { ...owner, blocked: event.blocked, blockNumber, blockHash, logIndex };
    if (await saveWalletBlock(tx, block)) await appendEvents(tx, [walletBlockChanged(block)]);
  }
}
