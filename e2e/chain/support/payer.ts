import { randomBytes } from "node:crypto";
import { Interface, Transaction, Wallet } from "ethers";
import { CHAIN_ID } from "@wonrail/local/parts/anvil";
import { type X402Payment } from "@wonrail/proto/relayer/v1/relayer";
import { type World } from "./world";

const TYPES = {
  TransferWithAuthorization: ["address from", "address to", "uint256 value", "uint256 validAfter"]
    .concat("uint256 validBefore", "bytes32 nonce")
    .map((field) => ({ type: field.split(" ")[0]!, name: field.split(" ")[1]! })),
};
const NETWORK = `eip155:${CHAIN_ID}`;
const token = new Interface([
  "function transfer(address to, uint256 value)",
  "function transferWithAuthorization(address,address,uint256,uint256,uint256,bytes32,bytes)",
]);

export interface Terms {
  payTo: string;
  units: bigint;
  /** 64 hex digits. Default: random, as x402's clients choose it. */
  nonce?: string;
}

/** A key outside the product that pays by x402. */
export type Payer = ReturnType<typeof openPayer>;

export function openPayer({ node, contracts }: Pick<World, "node" | "contracts">) {
  const key = new Wallet(`0x${randomBytes(32).toString("hex")}`);
  const { tokenAddress } = contracts;

  /** Signs the payment as x402's clients do. */
  async function pay({ payTo, units, nonce = randomBytes(32).toString("hex") }: Terms): Promise<X402Payment> {
    const now = Math.floor(Date.now() / 1000);
    const authorization = {
      ...{ from: key.address, to: payTo, value: units.toString(), nonce: `0x${nonce}` },
      ...{ validAfter: String(now - 600), validBefore: String(now + 300) },
    };
    const domain = {
      ...{ name: "Wonrail Won", version: "1", chainId: CHAIN_ID },
      verifyingContract: tokenAddress,
    };
    const signature = await key.signTypedData(domain, TYPES, authorization);
    return {
      ...{ x402Version: 2, acceptedScheme: "exact", acceptedNetwork: NETWORK, authorization },
      terms: { scheme: "exact", network: NETWORK, asset: tokenAddress, amount: units.toString(), payTo },
      signature: Buffer.from(signature.slice(2), "hex"),
    };
  }

  /** Sends a transaction of its own to the token, at a fee above the relayer's. */
  async function send(data: string): Promise<string> {
    await node.rpc("anvil_setBalance", [key.address, "0xde0b6b3a7640000"]);
    const nonce = Number(await node.rpc<string>("eth_getTransactionCount", [key.address, "pending"]));
    const fees = { maxFeePerGas: 100n * 10n ** 9n, maxPriorityFeePerGas: 50n * 10n ** 9n };
    const call = { to: tokenAddress, data, nonce, gasLimit: 200_000n, chainId: CHAIN_ID, type: 2, ...fees };
    return node.rpc<string>("eth_sendRawTransaction", [await key.signTransaction(Transaction.from(call))]);
  }

  return {
    address: key.address,
    pay,
    transfer: (to: string, units: bigint) => send(token.encodeFunctionData("transfer", [to, units])),
    /** Sends another payer's authorization to the token. */
    submit: ({ authorization, signature }: X402Payment) => {
      const { from, to, value, validAfter, validBefore, nonce } = authorization!;
      const args = [from, to, value, validAfter, validBefore, nonce, signature];
      return send(token.encodeFunctionData("transferWithAuthorization", args));
    },
  };
}
