// Shared by the commands: arguments, keys from files, a provider, the committed artifacts.
import { readFileSync } from "node:fs";
import { join } from "node:path";
import { performance } from "node:perf_hooks";
import { setTimeout as sleep } from "node:timers/promises";
import { parseArgs } from "node:util";
import { ethers } from "ethers";
import { home } from "./foundry.mjs";

/** The time limit for one answer of a node. */
const TIMEOUT_MS = 30_000;
/** The time limit for a transaction to get into a block. */
export const BLOCK_WAIT_MS = 600_000;
const LOOK_MS = 200;

/** A problem that the caller can fix: its message is all that is shown. */
export class UsageError extends Error {}

/** Parses `--name value` options; prints the usage on --help, and names the wrong option otherwise. */
export function readOptions(usage, names, { positionals = false, flags = [] } = {}) {
  const options = Object.fromEntries([
    ...names.map((name) => [name, { type: "string" }]),
    ...[...flags, "help"].map((name) => [name, { type: "boolean" }]),
  ]);
  let parsed;
  try {
    parsed = parseArgs({ options, allowPositionals: positionals });
  } catch (error) {
    throw new UsageError(`${error.message}\n\n${usage}`);
  }
  if (parsed.values.help) {
    console.log(usage);
    process.exit(0);
  }
  const required = (name) => {
    if (parsed.values[name] === undefined) throw new UsageError(`--${name} is missing.\n\n${usage}`);
    return parsed.values[name];
  };
  return { values: parsed.values, positionals: parsed.positionals, required };
}

/** Runs a command. An error that the caller can fix is one line; other errors are shown whole. Both exit 1. */
export async function run(main) {
  endOnSignals();
  try {
    await main();
  } catch (error) {
    console.error(tell(error));
    process.exitCode = 1;
  }
}

/** As the first process of a container it must handle signals itself. */
function endOnSignals() {
  process.once("SIGINT", () => process.exit(130));
  process.once("SIGTERM", () => process.exit(143));
}

function tell(error) {
  if (error instanceof UsageError) return error.message;
  const reason = typeof error?.data === "string" && error.data !== "0x" ? readReason(error.data) : undefined;
  return reason ? `The chain refuses: ${reason.name}(${reason.args.join(", ")})` : error;
}

function readReason(data) {
  const reasons = ["WonToken", "PaymentManager"].map((name) =>
    new ethers.Interface(artifact(name).abi).parseError(data),
  );
  return reasons.find((reason) => reason !== null);
}

export function artifact(name) {
  return JSON.parse(readFileSync(join(home, "artifacts", `${name}.json`), "utf8"));
}

export function readKey(path) {
  let text;
  try {
    text = readFileSync(path, "utf8").trim();
  } catch {
    throw new UsageError(`The key file ${path} cannot be read.`);
  }
  const key = text.startsWith("0x") ? text : `0x${text}`;
  if (!/^0x[0-9a-fA-F]{64}$/.test(key))
    throw new UsageError(`The key file ${path} does not hold a 32-byte key in hex.`);
  return new ethers.SigningKey(key);
}

export function readDeployment(path) {
  try {
    return JSON.parse(readFileSync(path, "utf8"));
  } catch (error) {
    throw new UsageError(`The deployment's file ${path} cannot be read: ${error.message}`);
  }
}

export function readAddress(text, what) {
  try {
    return ethers.getAddress(text);
  } catch {
    throw new UsageError(`${what} is not an address: ${text}`);
  }
}

/** Accepts digits only. Commas, points and exponents are refused. */
export function readWhole(text, what) {
  if (!/^[0-9]{1,18}$/.test(text)) throw new UsageError(`${what} is not a whole number: ${text}`);
  return BigInt(text);
}

/**
 * Returns the receipt once the transaction is in a block. The library's own wait may leave a
 * question open, which fails when the provider closes: the command would exit with 1 after a
 * success.
 */
export async function receiptOf(provider, hash) {
  const end = performance.now() + BLOCK_WAIT_MS;
  while (performance.now() < end) {
    const receipt = await provider.getTransactionReceipt(hash);
    if (receipt?.status === 0) throw new UsageError(`${hash} was reverted in block ${receipt.blockNumber}.`);
    if (receipt) return receipt;
    await sleep(LOOK_MS);
  }
  throw new UsageError(`${hash} is in no block yet, and may still come into one.`);
}

/** Without caches and batches: on a chain that mines at once a cached nonce is wrong. */
export async function connect(url) {
  const request = new ethers.FetchRequest(url);
  request.timeout = TIMEOUT_MS;
  const options = { cacheTimeout: -1, batchMaxCount: 1, pollingInterval: 100 };
  let chainId;
  try {
    const signal = AbortSignal.timeout(TIMEOUT_MS);
    const { result } = await (await fetch(url, { ...chainIdRequest, signal })).json();
    chainId = BigInt(result);
  } catch {
    throw new UsageError(`No Ethereum node answers at ${url}.`);
  }
  return new ethers.JsonRpcProvider(request, chainId, {
    ...options,
    staticNetwork: ethers.Network.from(chainId),
  });
}

const chainIdRequest = {
  method: "POST",
  headers: { "content-type": "application/json" },
  body: JSON.stringify({ jsonrpc: "2.0", id: 1, method: "eth_chainId", params: [] }),
};
