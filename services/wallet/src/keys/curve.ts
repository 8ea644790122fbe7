import { SigningKey, computeAddress, getBytes, hexlify } from "ethers";

/**
 * secp256k1 behind a small interface: npm's prebuilt native binding where it exists,
 * ethers elsewhere. Both return the same bytes.
 */
export interface Curve {
  readonly backend: "native" | "ethers";
  /** 65 bytes: r, s (low), v as 27 or 28. Deterministic (RFC 6979). */
  sign(digest: Uint8Array, privateKey: Uint8Array): Buffer;
  /** The public key (64 bytes) that gave this signature of 65. */
  recover(digest: Uint8Array, signature: Uint8Array): Buffer;
  /** The 64 bytes x and y of the public key. */
  publicKey(privateKey: Uint8Array): Buffer;
  /**
   * Returns privateKey + tweak modulo the curve's order, or null where the result or the tweak is
   * no valid key.
   */
  addToKey(privateKey: Uint8Array, tweak: Uint8Array): Buffer | null;
}

interface NativeBinding {
  ecdsaSign(digest: Uint8Array, key: Uint8Array): { signature: Uint8Array; recid: number };
  ecdsaRecover(signature: Uint8Array, recid: number, digest: Uint8Array, compressed: boolean): Uint8Array;
  publicKeyCreate(key: Uint8Array, compressed: boolean): Uint8Array;
  privateKeyTweakAdd(key: Uint8Array, tweak: Uint8Array): Uint8Array;
}

export function openCurve(): Curve {
  return nativeCurve() ?? ethersCurve();
}

/**
 * Loads the binding's own file. The package's main file would silently fall back to a JavaScript
 * library with known flaws.
 */
export function nativeCurve(): Curve | null {
  let binding: NativeBinding;
  try {
    // oxlint-disable-next-line typescript/no-require-imports -- absent on platforms without a prebuilt binding
    binding = require("secp256k1/bindings.js") as NativeBinding;
  } catch {
    return null;
  }
  return {
    backend: "native",
    sign(digest, privateKey) {
      const { signature, recid } = binding.ecdsaSign(digest, privateKey);
      const bytes = Buffer.allocUnsafe(65);
      bytes.set(signature, 0);
      bytes[64] = 27 + recid;
      return bytes;
    },
    recover(digest, signature) {
      const rs = signature.subarray(0, 64);
      return Buffer.from(binding.ecdsaRecover(rs, signature[64]! - 27, digest, false)).subarray(1);
    },
    publicKey: (privateKey) => Buffer.from(binding.publicKeyCreate(privateKey, false)).subarray(1),
    addToKey(privateKey, tweak) {
      // The binding adds in place, so there is no other copy to wipe.
      const sum = Buffer.alloc(privateKey.length);
      sum.set(privateKey);
      try {
        binding.privateKeyTweakAdd(sum, tweak);
        return sum;
      } catch {
        sum.fill(0);
        return null;
      }
    },
  };
}

export function ethersCurve(): Curve {
  return {
    backend: "ethers",
    sign: (digest, privateKey) => Buffer.from(getBytes(new SigningKey(privateKey).sign(digest).serialized)),
    recover: (digest, signature) =>
      Buffer.from(getBytes(SigningKey.recoverPublicKey(digest, hexlify(signature)))).subarray(1),
    publicKey: (privateKey) => Buffer.from(getBytes(new SigningKey(privateKey).publicKey)).subarray(1),
    addToKey(privateKey, tweak) {
      const delta = toBigInt(tweak);
      if (delta >= CURVE_ORDER) return null;
      const sum = (toBigInt(privateKey) + delta) % CURVE_ORDER;
      return sum === 0n ? null : Buffer.from(sum.toString(16).padStart(64, "0"), "hex");
    },
  };
}

/** The EIP-55 checksummed address of a public key. */
export function addressOf(publicKey: Uint8Array): string {
  return computeAddress(hexlify(Buffer.concat([Buffer.of(4), publicKey])));
}

const CURVE_ORDER = 0xfffffffffffffffffffffffffffffffebaaedce6af48a03bbfd25e8cd0364141n;

function toBigInt(bytes: Uint8Array): bigint {
  return BigInt(hexlify(bytes));
}
