import { randomBytes } from "node:crypto";
import { performance } from "node:perf_hooks";
import { TypedDataEncoder, Wallet, verifyTypedData } from "ethers";
import { openCurve } from "@wonrail/wallet/keys/curve";
import { typedDataFor } from "@wonrail/wallet/keys/typedData";
import { atLeast, type Result, observed } from "../report";

const DOMAIN = {
  name: "Wonrail Won",
  version: "1",
  chainId: 31_337n,
  verifyingContract: "0x5FbDB2315678afecb367f032d93F642f64180aa3",
};
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

/**
 * Encodes, hashes and signs a whole typed intent, and recovers the signer. Fails when the two
 * implementations differ.
 */
export function curveSection(count: number): Result[] {
  const curve = openCurve();
  const key = randomBytes(32);
  const wallet = new Wallet(`0x${key.toString("hex")}`);
  const typed = typedDataFor({ chainId: DOMAIN.chainId, tokenAddress: DOMAIN.verifyingContract });
  const intent = (number: number) => {
    const nonce = Buffer.alloc(32);
    nonce.writeUInt32BE(number, 28);
    return {
      from: wallet.address,
      to: DOMAIN.verifyingContract,
      value: BigInt(number),
      validBefore: 2_000_000_000n,
      nonce,
    };
  };
  const message = (number: number) => ({ ...intent(number), validAfter: 0n });
  const sign = (number: number) => curve.sign(typed.transferDigest(intent(number)), key);
  const signByEthers = (number: number) =>
    wallet.signingKey.sign(TypedDataEncoder.hash(DOMAIN, TYPES, message(number))).serialized;
  const signatures = Array.from({ length: count }, (_, number) => sign(number));
  signatures.forEach((signature, number) => {
    if (number < 100 && `0x${signature.toString("hex")}` !== signByEthers(number))
      throw new Error("the bytes differ");
  });
  const hex = signatures.map((signature) => `0x${signature.toString("hex")}`);
  const ours = rate(count, sign);
  const theirs = rate(count / 5, signByEthers);
  const publicKey = curve.publicKey(key);
  const recovered = rate(count, (number) => {
    const signer = curve.recover(typed.transferDigest(intent(number)), signatures[number]!);
    if (!signer.equals(publicKey)) throw new Error("another signer");
  });
  const recoveredByEthers = rate(count / 10, (number) =>
    verifyTypedData(DOMAIN, TYPES, message(number), hex[number]!),
  );
  return [
    observed("sign.rate", ours, "per second", `whole intents, ${curve.backend}`),
    atLeast("sign.vs_ethers", ours / theirs, "×", 5),
    atLeast("recover.vs_ethers", recovered / recoveredByEthers, "×", 15),
  ];
}

function rate(count: number, work: (number: number) => unknown): number {
  for (let number = 0; number < count / 10; number += 1) work(number);
  const startMs = performance.now();
  for (let number = 0; number < count; number += 1) work(number);
  return (count / (performance.now() - startMs)) * 1000;
}
