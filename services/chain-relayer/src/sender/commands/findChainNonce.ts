import { type Database } from "@wonrail/kit/db";
import { type Provider, type Signer } from "../../evm";
import { findNextNonce } from "../store/transactions";

export interface NonceDeps {
  db: Database;
  provider: Pick<Provider, "nonce" | "finalBlock">;
  signer: Pick<Signer, "address">;
}

/** By so many somebody may have used the signer's key since the last block that is final. */
const FAR = 1_000n;

/**
 * The chain's count of what the signer has sent. What is given out is never taken back, and one that is too high leaves a gap before it that has to be filled,
 * one transaction after the other, before anything behind it is mined: so one that is far ahead of ours has to be that of a final block. Null while it is not.
 */
export async function findChainNonce({ db, provider, signer }: NonceDeps): Promise<bigint | null> {
  const latest = await provider.nonce(signer.address, "latest");
  if (latest <= (await findNextNonce(db, signer.address)) + FAR) return latest;
  const final = await provider.finalBlock();
  const proven = final ? await provider.nonce(signer.address, final.number) : 0n;
  return latest <= proven + FAR ? latest : null;
}
