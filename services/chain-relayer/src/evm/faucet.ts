import { computeAddress, SigningKey } from "ethers";

/** A key outside of custody whose tokens the sandbox gives away. */
export interface Faucet {
  readonly address: string;
  /** Signs the hash of an authorization of its own tokens. */
  sign(hash: string): Buffer;
}

export function createFaucet(privateKey: string): Faucet {
  const key = new SigningKey(privateKey);
  return {
    address: computeAddress(key.publicKey),
    sign: (hash) => Buffer.from(key.sign(hash).serialized.slice(2), "hex"),
  };
}
