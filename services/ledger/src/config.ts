import { commandShape } from "@wonrail/kit/command/config";
import { count, durationMs, loadConfig } from "@wonrail/kit/config";
import { serviceRules, serviceShape } from "@wonrail/kit/service";
import { z } from "zod";

const schema = z.object({
  ...serviceShape,
  /** The most intents in one transaction, and how many more may wait. */
  MAX_BATCH: count.min(1).default(1_000),
  MAX_QUEUE: count.min(1).default(20_000),
  VERIFY_EVERY_MS: durationMs.default(10_000),
});

export type Config = z.output<typeof schema>;

export function readConfig(): Config {
  return loadConfig(schema, process.env, serviceRules);
}

const adminSchema = z.object(commandShape);

export type AdminConfig = z.output<typeof adminSchema>;

/** The operators' commands need the database and nothing else. */
export function readAdminConfig(): AdminConfig {
  return loadConfig(adminSchema, process.env);
}
