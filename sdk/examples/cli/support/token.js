import { Contract, hexlify, JsonRpcProvider, randomBytes, Wallet } from "ethers";
import { UsageError } from "./failures.js";

const ABI = [
  "function balanceOf(address) view returns (uint256)",
  "function transfer(address to, uint256 value) returns (bool)",
  "function transferWithAuthorization(address from, address to, uint256 value, uint256 validAfter, uint256 validBefore, bytes32 nonce, bytes signature)",
  "function eip712Domain() view returns (bytes1 fields, string name, string version, uint256 chainId, address verifyingContract, bytes32 salt, uint256[] extensions)",
];
const AUTHORIZATION = {
  TransferWithAuthorization: [
    { name: "from", type: "address" },
    { name: "to", type: "address" },
    { name: "value", type: "uint256" },
    { name: "validAfter", type: "uint256" },
    { name: "validBefore", type: "uint256" },
    { name: "nonce", type: "bytes32" },
  ],
};
const VALID_SECONDS = 600;

/** The network's token, in the hands of one key. */
export async function openToken(network, privateKey) {
  if (!privateKey) throw new UsageError("SENDER_PRIVATE_KEY is not set. Make one: node index.js keygen");
  const provider = new JsonRpcProvider(network.rpcUrl, network.chainId, {
    staticNetwork: true,
    pollingInterval: 250,
  });
  const { chainId } = await provider._detectNetwork();
  if (chainId !== BigInt(network.chainId))
    throw new UsageError(`${network.rpcUrl} is chain ${chainId}, not ${network.chainId}.`);
  const wallet = new Wallet(privateKey, provider);
  return { provider, wallet, contract: new Contract(network.token.address, ABI, wallet) };
}

/** A plain transfer: the sender pays the gas. Returns as soon as the network has taken it. */
export async function transfer({ contract }, { to, units }) {
  const { hash } = await contract.transfer(to, units);
  return hash;
}

/** ERC-3009: the sender only signs; whoever submits it pays the gas. The nonce makes it valid once. */
export async function transferWithAuthorization({ provider, wallet, contract }, submitterKey, { to, units }) {
  const { name, version, chainId, verifyingContract } = await contract.eip712Domain();
  const { timestamp } = await provider.getBlock("latest");
  const authorization = {
    from: wallet.address,
    to,
    value: BigInt(units),
    validAfter: 0n,
    validBefore: BigInt(timestamp + VALID_SECONDS),
    nonce: hexlify(randomBytes(32)),
  };
  const domain = { name, version, chainId, verifyingContract };
  const signature = await wallet.signTypedData(domain, AUTHORIZATION, authorization);
  const submitter = contract.connect(new Wallet(submitterKey, provider));
  const { hash } = await submitter.transferWithAuthorization(...Object.values(authorization), signature);
  return hash;
}
