import { Agent } from "node:http";
import { Agent as SecureAgent } from "node:https";
import { Contract, FetchRequest, hexlify, JsonRpcProvider, keccak256, randomBytes, Wallet } from "ethers";
import { beforeMoney, UsageError } from "./failures.js";
import { unlessInterrupted } from "./interruption.js";

const ABI = [
  "function balanceOf(address) view returns (uint256)",
  "function transfer(address to, uint256 value) returns (bool)",
  "function transferWithAuthorization(address from, address to, uint256 value, uint256 validAfter, " +
    "uint256 validBefore, bytes32 nonce, bytes signature)",
  "function eip712Domain() view returns (bytes1 fields, string name, string version, uint256 chainId, " +
    "address verifyingContract, bytes32 salt, uint256[] extensions)",
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

/** Opens the network's token for one key, until it is closed. */
export async function openToken(network, privateKey, signal) {
  if (!privateKey) throw new UsageError("SENDER_PRIVATE_KEY is not set. Make one: node index.js keygen");
  const wallet = walletOf("SENDER_PRIVATE_KEY", privateKey);
  const { provider, close } = connect(network);
  try {
    await beforeMoney(() => unlessInterrupted(signal, () => checkChain(provider, network)));
  } catch (error) {
    close();
    throw error;
  }
  const sender = wallet.connect(provider);
  return { provider, wallet: sender, contract: new Contract(network.token.address, ABI, sender), close };
}

/**
 * Uses its own connections: ethers keeps one open on which a node hangs, and the process would wait
 * for minutes.
 */
function connect({ rpcUrl, chainId }) {
  const agent = rpcUrl.startsWith("https:") ? new SecureAgent() : new Agent();
  const node = new FetchRequest(rpcUrl);
  node.getUrlFunc = FetchRequest.createGetUrlFunc({ agent });
  const provider = new JsonRpcProvider(node, chainId, { staticNetwork: true, pollingInterval: 250 });
  const close = () => {
    provider.destroy();
    agent.destroy();
  };
  return { provider, close };
}

/** The message omits the key, because it may be a typing error of the real one. */
function walletOf(name, privateKey) {
  try {
    return new Wallet(privateKey);
  } catch {
    throw new UsageError(`${name} is not a private key: that is 0x and 64 hex digits.`);
  }
}

/** Asks the node for its chain, because ethers does not check a static network. */
async function checkChain(provider, { rpcUrl, chainId }) {
  const actual = BigInt(await provider.send("eth_chainId", []));
  if (actual === BigInt(chainId)) return;
  throw new UsageError(
    `${rpcUrl} is on chain ${actual}, not ${chainId}: set RPC_URL and CHAIN_ID to one chain's.`,
  );
}

/** A plain transfer: the sender pays the gas. */
export async function signTransfer({ wallet, contract }, { to, units }) {
  return signed(wallet, await contract.transfer.populateTransaction(to, units));
}

/** ERC-3009: the sender signs, and the submitter pays the gas. The nonce makes it valid once. */
export async function signTransferWithAuthorization(
  { provider, wallet, contract },
  submitterKey,
  { to, units },
) {
  const submitter = walletOf("SUBMITTER_PRIVATE_KEY", submitterKey);
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
  const fields = [...Object.values(authorization), signature];
  const request = await contract.transferWithAuthorization.populateTransaction(...fields);
  return signed(submitter.connect(provider), request);
}

/** Signs without sending, so that the hash is known before the transaction is sent. */
async function signed(wallet, request) {
  const raw = await wallet.signTransaction(await wallet.populateTransaction(request));
  return { raw, txHash: keccak256(raw) };
}
