// Builds typed data and steps like the relayer, for measurements and tests.
import { readFileSync } from "node:fs";
import { join } from "node:path";
import { ethers } from "ethers";
import { home } from "./foundry.mjs";

const typedData = JSON.parse(readFileSync(join(home, "typedData.json"), "utf8"));
export const TRANSFER = 0;
export const MINT = 1;
export const BURN = 2;

/** Creates steps for one token on one chain. Every authorization ends at `validBefore`. */
export function stepWriter({ chainId, token, validBefore }) {
  const domain = { ...typedData.domain, chainId, verifyingContract: token };
  const sign = (wallet, type, message) => {
    const types = { [type]: typedData.types[type] };
    const signature = wallet.signingKey.sign(ethers.TypedDataEncoder.hash(domain, types, message));
    return { r: signature.r, vs: signature.yParityAndS, signature };
  };
  const authorize = (wallet, type, fields, nonce) =>
    sign(wallet, type, {
      from: wallet.address,
      ...fields,
      validAfter: 0,
      validBefore,
      nonce: bytes32(nonce),
    });

  return {
    authorize,
    pay: (wallet, to, value, nonce) => {
      const { r, vs } = authorize(wallet, "TransferWithAuthorization", { to, value }, nonce);
      return [TRANSFER, wallet.address, to, value, validBefore, bytes32(nonce), r, vs];
    },
    burn: (wallet, value, nonce) => {
      const { r, vs } = authorize(wallet, "BurnWithAuthorization", { value }, nonce);
      return [BURN, wallet.address, ethers.ZeroAddress, value, validBefore, bytes32(nonce), r, vs];
    },
    mint: (to, value) => {
      const nothing = [ethers.ZeroHash, ethers.ZeroHash, ethers.ZeroHash];
      return [MINT, ethers.ZeroAddress, to, value, validBefore, ...nothing];
    },
  };
}

/** Operations of [id, steps] as the two lists that the manager takes. */
export function batchOf(operations) {
  return [
    operations.map(([id, steps]) => [bytes32(id), steps.length]),
    operations.flatMap(([, steps]) => steps),
  ];
}

export function bytes32(number) {
  return ethers.toBeHex(number, 32);
}
