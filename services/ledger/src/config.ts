import { type ClientConfig, commandShape, readClientConfig } from "@wonrail/kit/command/config";
import { count, durationMs, loadConfig, rule } from "@wonrail/kit/config";
import { networkSetting } from "@wonrail/kit/contract/networks";
import { serviceRules, serviceShape } from "@wonrail/kit/service";
import { z } from "zod";

const schema = z.object({
  ...serviceShape,
  /** WON_TESTNET has the sandbox. */
  NETWORK: networkSetting,
  /** Batches in flight at once, one per queue. An organisation always uses the same queue. */
  BATCH_QUEUES: count.min(1).default(2),
  /** The most intents in one transaction, and how many more may wait, per queue. */
  MAX_BATCH: count.min(1).default(1_000),
  MAX_QUEUE: count.min(1).default(20_000),
  /** The limit of all charges of the service on one day of Asia/Seoul. */
  MAX_CHARGED_PER_DAY_WON: count.default(200_000_000_000),
  /** Pause between two verifications of the whole journal. */
  VERIFY_EVERY_MS: durationMs.default(3_600_000),
});

const { MAX_BATCH, MAX_QUEUE } = schema.shape;
const queueRule = rule({ MAX_BATCH, MAX_QUEUE }, ({ MAX_BATCH: batch, MAX_QUEUE: queue }) =>
  queue >= batch ? [] : [`MAX_QUEUE must be MAX_BATCH, ${batch}, or more: it is ${queue}`],
);

export type Config = z.output<typeof schema>;

export function readConfig(env = process.env, exit?: (message: string) => never): Config {
  return loadConfig(schema, env, [...serviceRules, queueRule], exit);
}

const adminSchema = z.object(commandShape);

/** The verification opens the database. The other commands call the running service. */
export type AdminConfig = z.output<typeof adminSchema> & ClientConfig;

export function readAdminConfig(): AdminConfig {
  return { ...loadConfig(adminSchema, process.env), ...readClientConfig("ledger") };
}
