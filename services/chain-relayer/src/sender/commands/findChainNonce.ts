import { type Database } from "@wonrail/kit/db";
import { type Provider, type Signer } from "../../evm";
import { findNextNonce } from "../store/transactions";

export interface NonceDeps {
  db: Database;
  provider: Pick<Provider, "nonce" | "finalBlock">;
  signer: Pick<Signer, "address">;
}

/** The signer's key may have been used from outside so often since the last final block. */
const FAR = 1_000n;

/**
 * The chain's count of the signer's transactions. A used nonce cannot be undone, and a too high one
 * leaves a gap that must be filled one by one. So a count far ahead of ours needs confirmation by a
 * final block. Null until then.
 */
export async function findChainNonce({ db, provider, signer }: NonceDeps): Promise<bigint | null> {
  const latest = await provider.nonce(signer.address, "latest");
  if (latest <= (await findNextNonce(db, signer.address)) + FAR) return latest;
  const final = await provider.finalBlock();
  const proven = final ? await provider.nonce(signer.address, final.number) : 0n;
  return latest <= proven + FAR ? latest : null;
}
