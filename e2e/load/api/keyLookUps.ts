import { parseApiKey } from "@wonrail/kit/contract/apiKey";
import { createClient } from "@wonrail/kit/grpc/client";
import { createLog } from "@wonrail/kit/log";
import { createRegistry } from "@wonrail/kit/metrics";
import { AuthServiceService } from "@wonrail/proto/auth/v1/auth";
import { closedLoop } from "../loop";
import { observed, type Result } from "../report";
import { type World } from "./world";

const CALLERS = 64;

/** Look-ups of an API key by auth. The gateway caches a key, so few requests need one. */
export async function keyLookUps({ authAddress, apiKey }: World, seconds: number): Promise<Result[]> {
  const client = createClient(AuthServiceService, {
    ...{ name: "auth", address: authAddress, defaultTimeoutMs: 10_000 },
    log: createLog({ service: "bench", level: "error" }),
    registry: createRegistry({ service: "bench", version: "0", commit: "0" }),
  });
  const { prefix, hash: keyHash } = parseApiKey(apiKey)!;
  const asked = { key: { prefix, keyHash }, clientAddress: "127.0.0.1" };
  const work = async () => void (await client.resolveKey(asked));
  const { perSecond, p99Ms } = await closedLoop({ callers: CALLERS, seconds, work });
  client.close();
  const note = `ResolveKey of auth, without the gateway's cache; p99 ${p99Ms.toFixed(1)} ms`;
  return [observed("resolve_key.rate", perSecond, "calls/s", note)];
}
