import { address, count, durationMs, hostPort, loadConfig, rule } from "@wonrail/kit/config";
import { serviceRules, serviceShape } from "@wonrail/kit/service";
import { z } from "zod";
import { fileKms, KeyFileProblem } from "@wonrail/kit/kms";

const limitWon = z.coerce.bigint().min(0n);

const schema = z.object({
  ...serviceShape,
  LEDGER_ADDRESS: hostPort,
  /** The file with the key-encryption keys (a mounted Secret). Only its path is configured, never a key. */
  KEK_PATH: z.string(),
  /**
   * A folder on other storage than the database's, for copies of the sealed seeds. Without it the
   * seeds that are newer than the last backup are lost with the database.
   */
  SEED_ESCROW_FOLDER: z.string().min(1).optional(),
  CHAIN_ID: count.min(1),
  TOKEN_ADDRESS: address,
  /** The longest time until an authorization ends. */
  SIGNING_HORIZON_MS: durationMs.default(3_600_000),
  /**
   * The amounts that may be signed in one hour. They bound the damage of a stolen certificate of
   * chain-relayer. A leg that alone exceeds a limit is never signed. 0 stops all signing.
   */
  SIGNING_LIMIT_WALLET_WON: limitWon.default(10_000_000_000n),
  SIGNING_LIMIT_ORGANISATION_WON: limitWon.default(1_000_000_000_000n),
  SIGNING_LIMIT_GLOBAL_WON: limitWon.default(10_000_000_000_000n),
});

/**
 * Reports an unusable key file at the start. Later the service reads the file for each key that it
 * does not know yet.
 */
const keyFileRule = rule({ KEK_PATH: schema.shape.KEK_PATH }, ({ KEK_PATH }) => {
  try {
    fileKms(KEK_PATH);
    return [];
  } catch (error) {
    if (error instanceof KeyFileProblem) return [`KEK_PATH: ${error.message}`];
    throw error;
  }
});

export type Config = z.output<typeof schema>;

export function readConfig(env = process.env, exit?: (message: string) => never): Config {
  return loadConfig(schema, env, [...serviceRules, keyFileRule], exit);
}
