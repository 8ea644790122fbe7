import { address, count, durationMs, hostPort, list, loadConfig } from "@wonrail/kit/config";
import { networkSetting } from "@wonrail/kit/contract/networks";
import { serviceRules, serviceShape } from "@wonrail/kit/service";
import { z } from "zod";
import { isPrivateKey } from "./evm";

/** URL of an endpoint. User and password are sent in a header (evm/rpc.ts). */
const httpUrl = z.url({ protocol: /^https?$/ });
const endpoints = list.refine((urls) => urls.every((url) => httpUrl.safeParse(url).success), {
  error: "must be http:// or https:// URLs, separated by commas",
});

const privateKey = z
  .string()
  .regex(/^0x[0-9a-fA-F]{64}$/, { error: "is not a private key of 0x and 64 hex digits", abort: true })
  .refine(isPrivateKey, "is no private key of secp256k1");

const finality = z.union([z.literal("finalized"), z.coerce.number().int().min(0).max(10_000)]);

const schema = z.object({
  ...serviceShape,
  AUTH_ADDRESS: hostPort,
  WALLET_ADDRESS: hostPort,
  LEDGER_ADDRESS: hostPort,
  PAYMENT_ADDRESS: hostPort,
  /**
   * One or several endpoints, separated by commas. With several, money-relevant facts need a
   * quorum. Each endpoint needs the state of the final block: an archive node where that is more
   * than 128 blocks behind the head.
   */
  CHAIN_RPC_URLS: endpoints.refine((urls) => urls.length > 0, "names no endpoint"),
  CHAIN_RPC_TIMEOUT_MS: durationMs.min(1).default(5_000),
  CHAIN_ID: count.min(1),
  NETWORK: networkSetting,
  TOKEN_ADDRESS: address,
  PAYMENT_MANAGER_ADDRESS: address,
  /** First block of the contracts. */
  START_BLOCK: count.default(0),
  /** The chain's own finality, or the number of blocks on top that make a block final. */
  FINALITY: finality.default("finalized"),
  /** The key that pays for gas and may call the payment manager. */
  OPERATOR_KEY: privateKey,
  /** The key whose tokens the sandbox gives away as deposits. Only on WON_TESTNET. */
  FAUCET_KEY: privateKey.optional(),
  FEE_CAP_GWEI: count.default(500),
  /** Most unmined transactions of the account. Nodes keep at most so many, and they fill a block. */
  MAX_IN_FLIGHT: count.min(1).default(16),
  MAX_STEPS: count.min(1).default(200),
  LEASE_MS: durationMs.min(1).default(10_000),
  RESEND_AFTER_MS: durationMs.default(5_000),
  REPLACE_AFTER_MS: durationMs.default(30_000),
  AUTHORIZATION_LIFE_MS: durationMs.default(1_800_000),
  /** Time for which a hold is retried after a refusal for its own cause, before it is given up. */
  OUTSIDE_LIFE_MS: durationMs.default(1_800_000),
  RECONCILE_EVERY_MS: durationMs.default(15_000),
  /**
   * Lease of a scheduled transfer. If its replica died, another replica continues after this time.
   * Must exceed a call to payment.
   */
  RECORD_LEASE_MS: durationMs.default(15_000),
  /**
   * Gas that the operator key pays in a day (UTC) for one organisation's payments by x402. Each
   * takes 46,000 to 86,000. 0 refuses all.
   */
  X402_GAS_PER_DAY: count.default(50_000_000),
});

export type Config = z.output<typeof schema>;

/** On the main network the newest block proves nothing: a reorganisation can drop it. */
function finalityRule({ NETWORK, FINALITY }: Record<string, string>): string[] {
  if (NETWORK !== "WON_MAINNET" || FINALITY === undefined || FINALITY === "finalized") return [];
  return Number(FINALITY) === 0 ? ["FINALITY: must not be 0 on WON_MAINNET"] : [];
}

/** The sandbox exists on the test network only. */
function faucetRule({ NETWORK, FAUCET_KEY }: Record<string, string>): string[] {
  const isMisplaced = NETWORK === "WON_MAINNET" && FAUCET_KEY !== undefined;
  return isMisplaced ? ["FAUCET_KEY: must not be set on WON_MAINNET"] : [];
}

export function readConfig(env = process.env, exit?: (message: string) => never): Config {
  return loadConfig(schema, env, [...serviceRules, finalityRule, faucetRule], exit);
}
