import { z } from "zod";

/**
 * The networks that a service can run on. Partners name them as a NetworkType, which has further
 * labels.
 */
export const NETWORKS = ["WON_TESTNET", "WON_MAINNET"] as const;

/**
 * A service on a network that no partner can name would silently ignore every record, so it does
 * not start.
 */
export const networkSetting = z
  .enum(NETWORKS, { error: `must be ${NETWORKS.join(" or ")}, as partners name it` })
  .default("WON_TESTNET");

/** Only the test network has the sandbox: its routes, its RPCs and its memos. */
export function hasSandbox(network: string): boolean {
  return network === "WON_TESTNET";
}
