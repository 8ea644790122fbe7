import { createHmac } from "node:crypto";
import { type Curve } from "./curve";

/** All levels are hardened: a leaked child key reveals neither its parent nor a sibling. */
const HARDENED = 0x8000_0000;
const PURPOSE = 44;
const COIN_ETHEREUM = 60;

/** The branch m/44'/60' of a seed (BIP-32), under which each wallet has an index. */
export function walletBranch(curve: Curve, seed: Uint8Array): Node {
  const purpose = childOf(curve, masterNode(seed), PURPOSE);
  return childOf(curve, purpose, COIN_ETHEREUM);
}

/** The private key of the wallet with this index. */
export function walletKey(curve: Curve, branch: Node, index: number): Buffer {
  const { key, chainCode } = hardenedChild(curve, branch, index);
  chainCode.fill(0);
  return key;
}

export function wipe({ key, chainCode }: Node): void {
  key.fill(0);
  chainCode.fill(0);
}

export interface Node {
  key: Buffer;
  chainCode: Buffer;
}

function masterNode(seed: Uint8Array): Node {
  return split(createHmac("sha512", "Bitcoin seed").update(seed).digest());
}

/** Wipes the parent after the derivation. */
function childOf(curve: Curve, parent: Node, index: number): Node {
  try {
    return hardenedChild(curve, parent, index);
  } finally {
    wipe(parent);
  }
}

function hardenedChild(curve: Curve, parent: Node, index: number): Node {
  const data = Buffer.alloc(37);
  parent.key.copy(data, 1);
  data.writeUInt32BE(HARDENED + index, 33);
  const { key: tweak, chainCode } = split(createHmac("sha512", parent.chainCode).update(data).digest());
  data.fill(0);
  const key = curve.addToKey(parent.key, tweak);
  tweak.fill(0);
  // The chance is 1 in 2^127. BIP-32 then uses the next index; such an index must never get a
  // wallet.
  if (key === null) throw new Error("this key index cannot be used; take the next one");
  return { key, chainCode };
}

function split(bytes: Buffer): Node {
  return { key: bytes.subarray(0, 32), chainCode: bytes.subarray(32) };
}
