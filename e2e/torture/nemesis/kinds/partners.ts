import { setTimeout as sleep } from "node:timers/promises";
import { pick } from "@wonrail/kit/testing/random";
import { ServiceClient } from "@wonrail/sdk";
import { type World } from "../../world/openWorld";
import { type Fault } from "../fault";

const ROTATION_MS = 60_000;
/** Longer than KEY_OVERLAP_MS of the world. */
const OVERLAP_MS = 6_000;

/** Faults and changes at the partners' side. */
export const PARTNER_FAULTS: readonly Fault[] = [
  {
    name: "receiver-down",
    holdMs: [1_000, 8_000],
    async begin({ receiver }, random) {
      const mode = pick(random, ["refusing", "broken"] as const);
      receiver.setMode(mode);
      return { detail: mode, end: async () => receiver.setMode("up") };
    },
  },
  {
    name: "key-rotated",
    holdMs: [OVERLAP_MS, OVERLAP_MS],
    async begin(world, random) {
      const organisation = pick(random, world.organisations);
      organisation.apiKey = await refreshKey(world, organisation);
      return { detail: organisation.code, end: async () => undefined };
    },
  },
];

/** Repeats the refresh until it is answered. A repetition gives the same key. */
async function refreshKey(
  { gatewayUrls }: World,
  { apiKey, secretKey }: World["organisations"][number],
): Promise<string> {
  for (const endMs = Date.now() + ROTATION_MS; ; await sleep(500)) {
    for (const baseUrl of gatewayUrls) {
      const sdk = new ServiceClient({ baseUrl, apiKey, logLevel: "off", timeoutMs: 5_000 });
      try {
        return (await sdk.auth.refreshKey({ secretKey })).newApiKey;
      } catch (error) {
        if (Date.now() > endMs) throw error;
      }
    }
  }
}
