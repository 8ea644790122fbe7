import { count, durationMs, loadConfig } from "@wonrail/kit/config";
import { networkSetting } from "@wonrail/kit/contract/networks";
import { serviceRules, serviceShape } from "@wonrail/kit/service";
import { z } from "zod";

const serviceSchema = z.object({
  ...serviceShape,
  /** WON_TESTNET has the sandbox, for organisations with test keys. */
  NETWORK: networkSetting,
  /** The kind of keys that this deployment issues: "wk_test_…" or "wk_live_…". */
  KEY_MODE: z.enum(["test", "live"]).default("test"),
  KEY_LIFETIME_HOURS: count.min(1).default(90 * 24),
  /** The time for which a refreshed key works beside its successor. */
  KEY_OVERLAP_MS: durationMs.default(600_000),
});

export type Config = z.output<typeof serviceSchema>;

export function readConfig(): Config {
  return loadConfig(serviceSchema, process.env, serviceRules);
}
