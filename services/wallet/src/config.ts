import { join } from "node:path";
import { address, count, durationMs, hostPort, loadConfig } from "@wonrail/kit/config";
import { localHome, readLocalStack } from "@wonrail/kit/localStack";
import { operatorOf } from "@wonrail/kit/operator";
import { serviceRules, serviceShape } from "@wonrail/kit/service";
import { z } from "zod";

const limitWon = z.coerce.bigint().min(0n);

const schema = z.object({
  ...serviceShape,
  LEDGER_ADDRESS: hostPort,
  /** The file with the key-encryption keys (a mounted Secret). Only its path is configured, never a key. */
  KEK_PATH: z.string(),
  CHAIN_ID: count,
  TOKEN_ADDRESS: address,
  /** How far ahead an authorization may end. */
  SIGNING_HORIZON_MS: durationMs.default(3_600_000),
  /** What may be signed for in one hour: a bound on the damage that a stolen relayer identity could do. */
  SIGNING_LIMIT_WALLET_WON: limitWon.default(10_000_000_000n),
  SIGNING_LIMIT_ORGANISATION_WON: limitWon.default(1_000_000_000_000n),
  SIGNING_LIMIT_GLOBAL_WON: limitWon.default(10_000_000_000_000n),
});

const adminSchema = z.object({
  DATABASE_URL: serviceShape.DATABASE_URL.optional(),
  KEK_PATH: z.string().optional(),
  /** Where the local stack lives, for when the two above are not given. */
  WONRAIL_HOME: z.string().optional(),
  /** Who the operator is: kept with the wallets that he wants reopened. */
  USER: z.string().max(64).optional(),
});

export type Config = z.output<typeof schema>;

export function readConfig(): Config {
  return loadConfig(schema, process.env, serviceRules);
}

/** Of the operators' commands: what is given, or else the running local stack's. */
export function readAdminConfig(): { databaseUrl: string; kekPath: string; operator: string } {
  const { DATABASE_URL, KEK_PATH, WONRAIL_HOME, USER } = loadConfig(adminSchema, process.env);
  const home = localHome(WONRAIL_HOME);
  return {
    operator: operatorOf({ USER }),
    databaseUrl: DATABASE_URL ?? localDatabaseUrl(home),
    kekPath: KEK_PATH ?? join(home, "secrets", "kek.json"),
  };
}

function localDatabaseUrl(home: string): string {
  const url = readLocalStack(home)?.postgres?.urls?.wallet;
  if (url !== undefined) return url;
  throw new Error(
    `DATABASE_URL is not set and no stack runs in ${home}. Set it, or start a stack with: npm run up`,
  );
}
