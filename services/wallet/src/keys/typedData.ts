import { AbiCoder, id, keccak256, toUtf8Bytes } from "ethers";

/** Token and chain for which a signature holds. */
export interface TokenDomain {
  chainId: bigint;
  tokenAddress: string;
}

const TOKEN_NAME = "Wonrail Won";
const TOKEN_VERSION = "1";

const TRANSFER =
  "TransferWithAuthorization(address from,address to,uint256 value,uint256 validAfter,uint256 validBefore,bytes32 nonce)";
const BURN =
  "BurnWithAuthorization(address from,uint256 value,uint256 validAfter,uint256 validBefore,bytes32 nonce)";
const DOMAIN = "EIP712Domain(string name,string version,uint256 chainId,address verifyingContract)";

const TRANSFER_TYPE = wordOfHex(id(TRANSFER));
const BURN_TYPE = wordOfHex(id(BURN));

export interface Authorization {
  from: string;
  value: bigint;
  validBefore: bigint;
  nonce: Uint8Array;
}

export interface TypedData {
  readonly domainSeparator: string;
  transferDigest(authorization: Authorization & { to: string }): Uint8Array;
  burnDigest(authorization: Authorization): Uint8Array;
}

/**
 * EIP-712 digests of the token's authorizations, with a domain separator computed once. The words
 * are laid out by hand, because a general encoder walks the types for each message, which costs
 * more than the signature.
 */
export function typedDataFor({ chainId, tokenAddress }: TokenDomain): TypedData {
  const domainSeparator = keccak256(
    AbiCoder.defaultAbiCoder().encode(
      ["bytes32", "bytes32", "bytes32", "uint256", "address"],
      [
        id(DOMAIN),
        keccak256(toUtf8Bytes(TOKEN_NAME)),
        keccak256(toUtf8Bytes(TOKEN_VERSION)),
        chainId,
        tokenAddress,
      ],
    ),
  );
  const prefix = Buffer.concat([Buffer.of(0x19, 0x01), wordOfHex(domainSeparator)]);
  const digest = (words: Buffer): Uint8Array =>
    Buffer.from(keccak256(Buffer.concat([prefix, wordOfHex(keccak256(words))])).slice(2), "hex");

  return {
    domainSeparator,
    transferDigest: ({ from, to, value, validBefore, nonce }) =>
      digest(
        Buffer.concat([
          TRANSFER_TYPE,
          addressWord(from),
          addressWord(to),
          word(value),
          ZERO,
          word(validBefore),
          nonce,
        ]),
      ),
    burnDigest: ({ from, value, validBefore, nonce }) =>
      digest(Buffer.concat([BURN_TYPE, addressWord(from), word(value), ZERO, word(validBefore), nonce])),
  };
}

/** validAfter: an authorization is good from the start of time until validBefore. */
const ZERO = Buffer.alloc(32);

function word(value: bigint): Buffer {
  return Buffer.from(value.toString(16).padStart(64, "0"), "hex");
}

function addressWord(address: string): Buffer {
  return Buffer.from(address.slice(2).padStart(64, "0"), "hex");
}

function wordOfHex(hex: string): Buffer {
  return Buffer.from(hex.slice(2), "hex");
}
