import { randomBytes, randomInt } from "node:crypto";
import { encodeRlp, keccak256, Transaction } from "ethers";
import { rlpBytes, rlpList, rlpNumber } from "./rlp";
import { createSigner } from "./signer";

test("signs and hashes as the library does", () => {
  for (let round = 0; round < 36; round += 1) {
    const signer = createSigner(`0x${randomBytes(32).toString("hex")}`);
    const number = (bits: number) =>
      BigInt(`0x${randomBytes(32).toString("hex")}`) >> BigInt(256 - randomInt(bits + 1));
    const tip = number(50);
    const call = {
      chainId: 1n + number(40),
      nonce: number(32),
      to: `0x${randomBytes(20).toString("hex")}`,
      data: randomBytes([0, 1, 55, 56, 300, 70_000][round % 6]!),
      gasLimit: number(25),
      maxFeeWei: tip + number(60),
      priorityFeeWei: tip,
    };
    const { raw, txHash } = signer.sign(call);
    const read = Transaction.from(`0x${raw.toString("hex")}`);
    expect(read.from).toBe(signer.address);
    expect(read.hash).toBe(txHash);
    expect(keccak256(raw)).toBe(txHash);
    expect(read.serialized).toBe(`0x${raw.toString("hex")}`);
    const { chainId, nonce, to, data, gasLimit, value, accessList, type } = read;
    expect({ chainId, nonce, to: to!.toLowerCase(), data, gasLimit, value, accessList, type }).toEqual({
      chainId: call.chainId,
      nonce: Number(call.nonce),
      to: call.to,
      data: `0x${call.data.toString("hex")}`,
      gasLimit: call.gasLimit,
      value: 0n,
      accessList: [],
      type: 2,
    });
    expect([read.maxFeePerGas, read.maxPriorityFeePerGas]).toEqual([call.maxFeeWei, call.priorityFeeWei]);
  }
});

test("refuses an invalid recipient, because its absence would create a contract", () => {
  const call = {
    chainId: 1n,
    nonce: 0n,
    data: Buffer.alloc(0),
    gasLimit: 1n,
    maxFeeWei: 1n,
    priorityFeeWei: 1n,
  };
  const signer = createSigner(`0x${randomBytes(32).toString("hex")}`);
  for (const to of ["", "0x", "0x12", `0x${"g".repeat(40)}`])
    expect(() => signer.sign({ ...call, to })).toThrow("address");
});

test.each([0, 1, 2, 54, 55, 56, 57, 255, 256, 65_535, 65_536])(
  "writes %i bytes as the library does",
  (length) => {
    const bytes = randomBytes(length);
    const hex = (of: Uint8Array) => `0x${Buffer.from(of).toString("hex")}`;
    expect(hex(rlpBytes(bytes))).toBe(encodeRlp(hex(bytes)));
    expect(hex(rlpList([rlpBytes(bytes), rlpList([])]))).toBe(encodeRlp([hex(bytes), []]));
  },
);

test("encodes numbers without leading zeros, and a byte below 128 as itself", () => {
  const hex = (value: bigint) => rlpNumber(value).toString("hex");
  expect([0n, 1n, 127n, 128n, 255n, 256n].map(hex)).toEqual(["80", "01", "7f", "8180", "81ff", "820100"]);
});
