import { flag, hostPort, loadConfig, rule } from "@wonrail/kit/config";
import { fileKms, KeyFileProblem } from "@wonrail/kit/kms";
import { networkSetting } from "@wonrail/kit/contract/networks";
import { serviceRules, serviceShape } from "@wonrail/kit/service";
import { z } from "zod";

const schema = z.object({
  ...serviceShape,
  AUTH_ADDRESS: hostPort,
  WALLET_ADDRESS: hostPort,
  LEDGER_ADDRESS: hostPort,
  PAYMENT_ADDRESS: hostPort,
  RELAYER_ADDRESS: hostPort,
  /** The name that settlements show. */
  NETWORK: networkSetting,
  /** File of the key-encryption keys that seal the secrets of webhooks. */
  WEBHOOK_KEK_PATH: z.string(),
  /** For the local stack: deliveries may go to this machine, also without TLS. */
  WEBHOOK_ALLOW_LOOPBACK: flag.default(false),
});

/** Reports an unusable key file at the start. */
const keyFileRule = rule({ WEBHOOK_KEK_PATH: schema.shape.WEBHOOK_KEK_PATH }, ({ WEBHOOK_KEK_PATH }) => {
  try {
    fileKms(WEBHOOK_KEK_PATH);
    return [];
  } catch (error) {
    if (error instanceof KeyFileProblem) return [`WEBHOOK_KEK_PATH: ${error.message}`];
    throw error;
  }
});

export type Config = z.output<typeof schema>;

export function readConfig(): Config {
  return loadConfig(schema, process.env, [...serviceRules, keyFileRule]);
}
