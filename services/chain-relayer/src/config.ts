import { commandShape } from "@wonrail/kit/command/config";
import { address, count, durationMs, hostPort, list, loadConfig } from "@wonrail/kit/config";
import { networkSetting } from "@wonrail/kit/contract/networks";
import { serviceRules, serviceShape } from "@wonrail/kit/service";
import { z } from "zod";
import { isPrivateKey } from "./evm";

/** Where an endpoint is. A user and a password go into a header of their own (evm/rpc.ts). */
const httpUrl = z.url({ protocol: /^https?$/ });
const endpoints = list.refine((urls) => urls.every((url) => httpUrl.safeParse(url).success), {
  error: "must be http:// or https:// URLs, separated by commas",
});

const finality = z.union([z.literal("finalized"), z.coerce.number().int().min(0).max(10_000)]);

const schema = z.object({
  ...serviceShape,
  AUTH_ADDRESS: hostPort,
  WALLET_ADDRESS: hostPort,
  LEDGER_ADDRESS: hostPort,
  PAYMENT_ADDRESS: hostPort,
  /**
   * One or several, separated by commas. With several, facts on which money depends are taken only when they agree. Each needs the state of the final
   * block: an archive node where that is more than 128 blocks behind the head.
   */
  CHAIN_RPC_URLS: endpoints.refine((urls) => urls.length > 0, "names no endpoint"),
  CHAIN_RPC_TIMEOUT_MS: durationMs.min(1).default(5_000),
  CHAIN_ID: count.min(1),
  NETWORK: networkSetting,
  TOKEN_ADDRESS: address,
  PAYMENT_MANAGER_ADDRESS: address,
  /** Where the contracts begin. */
  START_BLOCK: count.default(0),
  /** The chain's own finality, or how many blocks on top make one final. */
  FINALITY: finality.default("finalized"),
  /** The key that pays for gas and may call the payment manager. */
  OPERATOR_KEY: z
    .string()
    .regex(/^0x[0-9a-fA-F]{64}$/, { error: "is not a private key of 0x and 64 hex digits", abort: true })
    .refine(isPrivateKey, "is no private key of secp256k1"),
  FEE_CAP_GWEI: count.default(500),
  /** As many as nodes keep of one account, and enough to fill a block. */
  MAX_IN_FLIGHT: count.min(1).default(16),
  MAX_STEPS: count.min(1).default(200),
  LEASE_MS: durationMs.min(1).default(10_000),
  RESEND_AFTER_MS: durationMs.default(5_000),
  REPLACE_AFTER_MS: durationMs.default(30_000),
  AUTHORIZATION_LIFE_MS: durationMs.default(1_800_000),
  /** How long a hold is tried after it was refused for a cause of its own, before it is given back. */
  OUTSIDE_LIFE_MS: durationMs.default(1_800_000),
  RECONCILE_EVERY_MS: durationMs.default(15_000),
  /** How long a replica has for a scheduled transfer before another goes on with it. Longer than a call to payment may take. */
  RECORD_LEASE_MS: durationMs.default(15_000),
});

const adminSchema = z.object({
  ...commandShape,
  NETWORK: networkSetting,
  /** Without them, too, it is the running stack's. */
  CHAIN_RPC_URLS: endpoints.default([]),
  CHAIN_ID: count.min(1).optional(),
});

export type Config = z.output<typeof schema>;
export type AdminConfig = z.output<typeof adminSchema>;

/** On the main network the newest block is no proof: a reorganisation can take it back. */
function finalityRule({ NETWORK, FINALITY }: Record<string, string>): string[] {
  if (NETWORK !== "WON_MAINNET" || FINALITY === undefined || FINALITY === "finalized") return [];
  return Number(FINALITY) === 0 ? ["FINALITY: must not be 0 on WON_MAINNET"] : [];
}

export function readConfig(env = process.env, exit?: (message: string) => never): Config {
  return loadConfig(schema, env, [...serviceRules, finalityRule], exit);
}

export function readAdminConfig(): AdminConfig {
  return loadConfig(adminSchema, process.env);
}
