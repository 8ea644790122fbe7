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
 * The chain's count of the signer's transactions. A nonce, once given out, is not taken back,
 * and one that is too high leaves a gap that must be filled one transaction after the other. So
 * a count far ahead of ours must be that of a final block. Null while it is not.
 */
export async function findChainNonce({ db, provider, signer }: NonceDeps): Promise<bigint | null> {
  const latest = await provider.nonce(signer.address, "latest");
  if (latest <= (await findNextNonce(db, signer.address)) + FAR) return latest;
  const final = await provider.finalBlock();
  const proven = final ? await provider.nonce(signer.address, final.number) : 0n;
  return latest <= proven + FAR ? latest : null;
}
