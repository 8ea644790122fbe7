import {
  AbiCoder,
  hexlify,
  Interface,
  recoverAddress,
  Signature,
  TypedDataEncoder,
  zeroPadValue,
} from "ethers";
import { tokenAbi, TOPICS } from "./contracts";

/** The EIP-712 domain of the token, without its chain and address. */
export const TOKEN_DOMAIN = { name: "Wonrail Won", version: "1" };

/** TransferWithAuthorization of ERC-3009. Times are in seconds. */
export interface TransferAuthorization {
  from: string;
  to: string;
  units: bigint;
  validAfter: bigint;
  validBefore: bigint;
  /** 64 hex digits. */
  nonce: string;
}

const TYPES = {
  TransferWithAuthorization: [
    { name: "from", type: "address" },
    { name: "to", type: "address" },
    { name: "value", type: "uint256" },
    { name: "validAfter", type: "uint256" },
    { name: "validBefore", type: "uint256" },
    { name: "nonce", type: "bytes32" },
  ],
};

/** The hash that the payer signs. */
export function hashTransferAuthorization(
  { chainId, tokenAddress }: { chainId: bigint; tokenAddress: string },
  { units, nonce, ...fields }: TransferAuthorization,
): string {
  const domain = { ...TOKEN_DOMAIN, chainId, verifyingContract: tokenAddress };
  return TypedDataEncoder.hash(domain, TYPES, { ...fields, value: units, nonce: `0x${nonce}` });
}

/** The signature in the token's form if the key of this address made it; else null. */
export function readKeySignature(hash: string, signer: string, signature: Uint8Array): Buffer | null {
  try {
    const read = Signature.from(hexlify(signature));
    const isSigner = recoverAddress(hash, read).toLowerCase() === signer.toLowerCase();
    return isSigner ? Buffer.from(read.serialized.slice(2), "hex") : null;
  } catch {
    // Wrong length, or no point of the curve.
    return null;
  }
}

const TRANSFER = "transferWithAuthorization(address,address,uint256,uint256,uint256,bytes32,bytes)";

/** The form with `bytes`, which takes signatures of keys and of contracts. */
export function encodeTransferWithAuthorization(of: TransferAuthorization, signature: Uint8Array): Buffer {
  const { from, to, units, validAfter, validBefore, nonce } = of;
  const args = [from, to, units, validAfter, validBefore, `0x${nonce}`, signature];
  return Buffer.from(tokenAbi.encodeFunctionData(TRANSFER, args).slice(2), "hex");
}

const contractWallet = new Interface([
  "function isValidSignature(bytes32 hash, bytes signature) view returns (bytes4)",
]);

/** ERC-1271: the question to a contract whether a signature is its own. */
export function encodeIsValidSignature(hash: string, signature: Uint8Array): string {
  return contractWallet.encodeFunctionData("isValidSignature", [hash, signature]);
}

const VALID = contractWallet.getFunction("isValidSignature")!.selector;

/** An address without code answers nothing. */
export function isValidSignatureAnswer(answer: string): boolean {
  return answer === AbiCoder.defaultAbiCoder().encode(["bytes4"], [VALID]);
}

/** Topics of the log that an authorization of this payer was used. */
export function topicsOfUse({ from, nonce }: Pick<TransferAuthorization, "from" | "nonce">): string[] {
  return [TOPICS.used, zeroPadValue(from, 32).toLowerCase(), `0x${nonce}`];
}

/** Topics of the logs of transfers from one address to another. */
export function topicsOfTransfer({ from, to }: Pick<TransferAuthorization, "from" | "to">): string[] {
  return [TOPICS.transfer, zeroPadValue(from, 32).toLowerCase(), zeroPadValue(to, 32).toLowerCase()];
}
