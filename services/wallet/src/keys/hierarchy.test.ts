import { HDNodeWallet } from "ethers";
import { addressOf, ethersCurve, nativeCurve } from "./curve";
import { walletBranch, walletKey } from "./hierarchy";

const seed = Buffer.alloc(32, 5);

test.each([
  ["native", nativeCurve()],
  ["ethers", ethersCurve()],
])("derives with %s the keys of the BIP-32 test vectors", (_, curve) => {
  if (!curve) return;
  const branch = walletBranch(curve, seed);
  for (const index of [0, 1, 2, 1000, 2 ** 31 - 1]) {
    const expected = HDNodeWallet.fromSeed(seed).derivePath(`m/44'/60'/${index}'`);
    const key = walletKey(curve, branch, index);
    expect(`0x${key.toString("hex")}`).toBe(expected.privateKey);
    expect(addressOf(curve.publicKey(key))).toBe(expected.address);
  }
});
