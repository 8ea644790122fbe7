import { type Database, tx, type Tx } from "@wonrail/kit/db";
import { failpoint } from "@wonrail/kit/failpoint";
import { type Log } from "@wonrail/kit/log";
import { type Provider, RpcUnanswered, type Signer } from "../../evm";
import { type Fees } from "../domain/fees";
import { fence, type Lease, setNextNonce, storeSigned } from "../store/transactions";
import { broadcast } from "./broadcast";
import { findChainNonce } from "./findChainNonce";

export interface SubmitDeps {
  db: Database;
  log: Log;
  provider: Provider;
  signer: Signer;
  chain: { chainId: bigint };
}

/** Id of a stored transaction, which the caller stores with the carried operations. */
export interface StoredTransaction {
  transactionId: bigint;
  txHash: string;
}

export interface Submission {
  to: string;
  callData: Buffer;
  gasLimit: bigint;
  fees: Fees;
  /**
   * Runs in the transaction that stores the signed bytes, so its writes are durable before the
   * bytes are sent.
   */
  onStored: (tx: Tx, stored: StoredTransaction) => Promise<void>;
}

export const NONCE_UNKNOWN =
  "the newest block's nonce of the signer is far ahead of ours and of the final block's: nothing is sent";

/** Signs a call, stores the bytes (R2), and broadcasts them (R3, R4). */
export async function submit(deps: SubmitDeps, lease: Lease, submission: Submission): Promise<void> {
  const stored = await store(deps, lease, submission);
  await failpoint("relayer.r2");
  await broadcast(deps, stored);
}

async function store(deps: SubmitDeps, lease: Lease, { to, callData, gasLimit, fees, onStored }: Submission) {
  const { db, signer, chain } = deps;
  const chainNonce = await findChainNonce(deps);
  if (chainNonce === null) throw new RpcUnanswered(NONCE_UNKNOWN);
  return tx(db, async (tx) => {
    const { nextNonce } = await fence(tx, lease);
    // If the key was used elsewhere, the chain's count is ahead of ours.
    const nonce = nextNonce > chainNonce ? nextNonce : chainNonce;
    const { chainId } = chain;
    const { raw, txHash } = signer.sign({ chainId, nonce, to, data: callData, gasLimit, ...fees });
    await setNextNonce(tx, signer.address, nonce + 1n);
    const transactionId = await storeSigned(tx, {
      ...{ signer: signer.address, nonce, epoch: lease.epoch, to, callData, gasLimit },
      version: { txHash, raw, ...fees },
    });
    await onStored(tx, { transactionId, txHash });
    return { transactionId, raw, txHash };
  });
}
