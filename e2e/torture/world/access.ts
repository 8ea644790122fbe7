import { SERVICES } from "@wonrail/local/services";
import { type WorldAccess } from "../checker";
import { type World } from "./openWorld";

/** Addresses of the world's parts behind the proxies, for the checker's facts. */
export function accessOf({ stack, gatewayUrls, organisations }: World): WorldAccess {
  const { rpcUrl, tokenAddress, paymentManagerAddress } = stack.chain;
  return {
    gatewayUrls,
    organisations: organisations.map(({ id, code, apiKey }) => ({ id, code, apiKey })),
    databaseUrls: Object.fromEntries(
      SERVICES.map(({ name }) => [name, stack.postgres.urls[name]!]),
    ) as WorldAccess["databaseUrls"],
    chain: { rpcUrl, tokenAddress, paymentManagerAddress },
  };
}
