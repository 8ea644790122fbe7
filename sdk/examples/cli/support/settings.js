import { existsSync, readFileSync } from "node:fs";
import { dirname, join } from "node:path";
import { loadEnvFile } from "node:process";
import { fileURLToPath } from "node:url";
import { ServiceClient } from "@wonrail/sdk";
import { UsageError } from "./failures.js";

const HERE = join(dirname(fileURLToPath(import.meta.url)), "..");

/** Reads the environment, then .env, then the stack.json of a running stack. */
export function readSettings() {
  const envFile = join(HERE, ".env");
  if (existsSync(envFile)) loadEnvFile(envFile);
  const { env } = process;
  const stack = env.WONRAIL_BASE_URL ? undefined : readStack(env.WONRAIL_HOME ?? ".wonrail");
  const [organisation] = stack?.organisations ?? [];
  const network = withoutEmpty({
    type: env.NETWORK_TYPE,
    rpcUrl: env.RPC_URL ?? stack?.chain.rpcUrl,
    explorerUrl: env.EXPLORER_URL,
    chainId: chainIdOf(env.CHAIN_ID) ?? stack?.chain.chainId,
    paymentManagerAddress: stack?.chain.paymentManagerAddress,
  });
  const token = withoutEmpty({ address: env.TOKEN_ADDRESS ?? stack?.chain.tokenAddress });
  const options = withoutEmpty({
    baseUrl: stack?.gatewayUrl,
    apiKey: env.WONRAIL_API_KEY ?? organisation?.apiKey,
    orgCode: env.WONRAIL_ORG_CODE ?? organisation?.orgCode,
  });
  return {
    /** Created on demand: keygen and help need no settings. */
    client: () => new ServiceClient({ ...options, network: { ...network, token } }),
    senderKey: env.SENDER_PRIVATE_KEY,
    submitterKey: env.SUBMITTER_PRIVATE_KEY ?? env.SENDER_PRIVATE_KEY,
  };
}

function chainIdOf(text = "") {
  if (text === "") return undefined;
  if (/^[1-9][0-9]{0,14}$/.test(text)) return Number(text);
  throw new UsageError(`CHAIN_ID must be a whole number in digits, such as 31337, not ${text}.`);
}

function readStack(home) {
  const file = join(home, "stack.json");
  return existsSync(file) ? JSON.parse(readFileSync(file, "utf8")) : undefined;
}

function withoutEmpty(fields) {
  return Object.fromEntries(
    Object.entries(fields).filter(([, value]) => value !== undefined && value !== ""),
  );
}
