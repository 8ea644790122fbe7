import { SigningKey, computeAddress, keccak256 } from "ethers";
import { readAddress } from "@wonrail/kit/contract/address";
import { assert } from "@wonrail/kit/contract/errors";
import { rlpBytes, rlpList, rlpNumber } from "./rlp";

/** The key that pays for gas. It can move no user's money. */
export interface Signer {
  readonly address: string;
  sign(transaction: UnsignedTransaction): { raw: Buffer; txHash: string };
}

export interface UnsignedTransaction {
  chainId: bigint;
  nonce: bigint;
  to: string;
  data: Uint8Array;
  gasLimit: bigint;
  maxFeeWei: bigint;
  priorityFeeWei: bigint;
}

/** EIP-1559's. */
const TYPE = Buffer.of(2);

/** Some 32-byte numbers are no valid key. */
export function isPrivateKey(text: string): boolean {
  try {
    computeAddress(new SigningKey(text).publicKey);
    return true;
  } catch {
    return false;
  }
}

/** Implemented here, because the library converts a batch's 40 KB into text and back five times. */
export function createSigner(privateKey: string): Signer {
  const key = new SigningKey(privateKey);
  return {
    address: computeAddress(key.publicKey),
    sign({ chainId, nonce, to, data, gasLimit, maxFeeWei, priorityFeeWei }) {
      const recipient = readAddress(to);
      assert(recipient !== null, `${to} is not an address`);
      const noValue = rlpNumber(0n);
      const noAccessList = rlpList([]);
      const fields = [
        ...[chainId, nonce, priorityFeeWei, maxFeeWei, gasLimit].map(rlpNumber),
        rlpBytes(Buffer.from(recipient.slice(2), "hex")),
        noValue,
        rlpBytes(data),
        noAccessList,
      ];
      const { yParity, r, s } = key.sign(keccak256(Buffer.concat([TYPE, rlpList(fields)])));
      const signature = [BigInt(yParity), BigInt(r), BigInt(s)].map(rlpNumber);
      const raw = Buffer.concat([TYPE, rlpList([...fields, ...signature])]);
      return { raw, txHash: keccak256(raw) };
    },
  };
}
