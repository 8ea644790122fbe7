import { createHash } from "node:crypto";
import { Signature, SigningKey, recoverAddress } from "ethers";
import { addressOf, ethersCurve, nativeCurve, openCurve } from "./curve";

const CURVE_ORDER = 0xfffffffffffffffffffffffffffffffebaaedce6af48a03bbfd25e8cd0364141n;
const VECTORS = 10_000;

function bytesOf(label: string, index: number): Buffer {
  return createHash("sha256").update(`${label} ${index}`).digest();
}

const native = nativeCurve();
const ethers = ethersCurve();

// Without a prebuilt binding there is no second backend to compare.
(native ? test : test.skip)(
  `both backends give the same ${VECTORS} signatures, all with a low s`,
  () => {
    for (let index = 0; index < VECTORS; index += 1) {
      const key = bytesOf("key", index);
      const digest = bytesOf("digest", index);
      const signature = native!.sign(digest, key);
      if (!signature.equals(ethers.sign(digest, key))) throw new Error(`vector ${index} differs`);
      if (index % 20 === 0 && !native!.recover(digest, signature).equals(ethers.recover(digest, signature)))
        throw new Error(`vector ${index} is recovered differently`);
      if (BigInt(`0x${signature.subarray(32, 64).toString("hex")}`) > CURVE_ORDER / 2n)
        throw new Error(`vector ${index} has a high s`);
    }
  },
  30_000,
);

(native ? test : test.skip)("both backends give the same keys and addresses", () => {
  for (let index = 0; index < 200; index += 1) {
    const key = bytesOf("key", index);
    const tweak = bytesOf("tweak", index);
    expect(native!.publicKey(key).equals(ethers.publicKey(key))).toBe(true);
    expect(native!.addToKey(key, tweak)).toEqual(ethers.addToKey(key, tweak));
  }
});

test.each([
  ["native", native],
  ["ethers", ethers],
])("%s refuses a tweak beyond the order of the curve", (_, curve) => {
  const tweak = Buffer.from(CURVE_ORDER.toString(16), "hex");
  if (curve) expect(curve.addToKey(bytesOf("key", 0), tweak)).toBeNull();
});

test("a signature recovers to the address of its key", () => {
  const curve = openCurve();
  const key = bytesOf("key", 7);
  const digest = bytesOf("digest", 7);
  const signature = Signature.from(`0x${curve.sign(digest, key).toString("hex")}`);
  expect(recoverAddress(digest, signature)).toBe(addressOf(curve.publicKey(key)));
  expect(new SigningKey(key).sign(digest).serialized).toBe(signature.serialized);
});
