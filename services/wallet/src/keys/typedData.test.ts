import { TypedDataEncoder, hexlify, randomBytes } from "ethers";
import { typedDataFor } from "./typedData";

const token = "0x5FbDB2315678afecb367f032d93F642f64180aa3";
const domain = { name: "Wonrail Won", version: "1", chainId: 31337n, verifyingContract: token };
const from = "0x70997970C51812dc3A010C7d01b50e0d17dc79C8";
const to = "0x3C44CdDdB6a900fa2b585dd299e03d12FA4293BC";
const fields = [
  { name: "value", type: "uint256" },
  { name: "validAfter", type: "uint256" },
  { name: "validBefore", type: "uint256" },
  { name: "nonce", type: "bytes32" },
];
const TRANSFER = {
  TransferWithAuthorization: [{ name: "from", type: "address" }, { name: "to", type: "address" }, ...fields],
};
const BURN = { BurnWithAuthorization: [{ name: "from", type: "address" }, ...fields] };

const typedData = typedDataFor({ chainId: 31337n, tokenAddress: token });

test("the domain separator equals other EIP-712 encoders'", () => {
  expect(typedData.domainSeparator).toBe(TypedDataEncoder.hashDomain(domain));
});

test("digests equal a general encoder's", () => {
  for (let run = 0; run < 100; run += 1) {
    const nonce = randomBytes(32);
    const value = BigInt(hexlify(randomBytes(31)));
    const validBefore = BigInt(run) * 1_000_003n;
    const message = { from, to, value, validAfter: 0n, validBefore, nonce };
    expect(hexlify(typedData.transferDigest({ from, to, value, validBefore, nonce }))).toBe(
      TypedDataEncoder.hash(domain, TRANSFER, message),
    );
    expect(hexlify(typedData.burnDigest({ from, value, validBefore, nonce }))).toBe(
      TypedDataEncoder.hash(domain, BURN, message),
    );
  }
});

test("another chain or token gives another digest", () => {
  const message = { from, to, value: 1n, validBefore: 1n, nonce: Buffer.alloc(32) };
  const digests = [
    typedData,
    typedDataFor({ chainId: 1n, tokenAddress: token }),
    typedDataFor({ chainId: 31337n, tokenAddress: to }),
  ].map((data) => hexlify(data.transferDigest(message)));
  expect(new Set(digests).size).toBe(3);
});
