import { SigningKey, Transaction, computeAddress, keccak256 } from "ethers";

/** The key that pays for gas. It can move no user's money. */
export interface Signer {
  readonly address: string;
  sign(transaction: UnsignedTransaction): { raw: Buffer; txHash: string };
}

export interface UnsignedTransaction {
  chainId: bigint;
  nonce: bigint;
  to: string;
  data: string;
  gasLimit: bigint;
  maxFeeWei: bigint;
  priorityFeeWei: bigint;
}

export function createSigner(privateKey: string): Signer {
  const key = new SigningKey(privateKey);
  return {
    address: computeAddress(key.publicKey),
    sign({ chainId, nonce, to, data, gasLimit, maxFeeWei, priorityFeeWei }) {
      const transaction = Transaction.from({
        type: 2,
        chainId,
        nonce: Number(nonce),
        to,
        data,
        gasLimit,
        maxFeePerGas: maxFeeWei,
        maxPriorityFeePerGas: priorityFeeWei,
      });
      transaction.signature = key.sign(transaction.unsignedHash);
      const raw = Buffer.from(transaction.serialized.slice(2), "hex");
      // Asked for its hash, the library would write it all down once more.
      return { raw, txHash: keccak256(raw) };
    },
  };
}
