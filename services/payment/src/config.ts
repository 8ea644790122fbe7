import { address, hostPort, loadConfig } from "@wonrail/kit/config";
import { networkSetting } from "@wonrail/kit/contract/networks";
import { serviceRules, serviceShape } from "@wonrail/kit/service";
import { z } from "zod";

const schema = z.object({
  ...serviceShape,
  AUTH_ADDRESS: hostPort,
  WALLET_ADDRESS: hostPort,
  LEDGER_ADDRESS: hostPort,
  RELAYER_ADDRESS: hostPort,
  /** The name that settlements show. */
  NETWORK: networkSetting,
  TOKEN_ADDRESS: address,
  PAYMENT_MANAGER_ADDRESS: address,
});

export type Config = z.output<typeof schema>;

export function readConfig(): Config {
  return loadConfig(schema, process.env, serviceRules);
}
