import { commandShape } from "@wonrail/kit/command/config";
import { count, durationMs, loadConfig } from "@wonrail/kit/config";
import { serviceRules, serviceShape } from "@wonrail/kit/service";
import { z } from "zod";

const keyShape = {
  /** The kind of keys that this deployment issues: "wk_test_…" or "wk_live_…". */
  KEY_MODE: z.enum(["test", "live"]).default("test"),
  KEY_LIFETIME_HOURS: count.min(1).default(90 * 24),
  /** The time for which a refreshed key works beside its successor. */
  KEY_OVERLAP_MS: durationMs.default(600_000),
};
const serviceSchema = z.object({ ...serviceShape, ...keyShape });
const adminSchema = z.object({ ...commandShape, ...keyShape });

export type Config = z.output<typeof serviceSchema>;
export type AdminConfig = z.output<typeof adminSchema>;

export function readConfig(): Config {
  return loadConfig(serviceSchema, process.env, serviceRules);
}

export function readAdminConfig(): AdminConfig {
  return loadConfig(adminSchema, process.env);
}
