import { isDeepStrictEqual } from "node:util";
import { BoundedMap } from "@wonrail/kit/boundedMap";
import { childTraceparent, currentContext, runInContext } from "@wonrail/kit/context";
import { type Database } from "@wonrail/kit/db";
import { type PromiseClient } from "@wonrail/kit/grpc/client";
import { type Log } from "@wonrail/kit/log";
import { type AuthServiceService } from "@wonrail/proto/auth/v1/auth";
import { correctPolicy, findPolicy, type Policy, savePolicy } from "../../store/policies";

export interface PolicyDeps {
  db: Database;
  log: Log;
  auth: Pick<PromiseClient<AuthServiceService>, "getOrganisation">;
  /** Milliseconds of a clock that never jumps. */
  monotonicMs: () => number;
}

const MAX_CACHED = 100_000;

/** A change of policy is in force everywhere this long after its event has come. */
const POLICY_TTL_MS = 1_000;
/** The event may be lost: of an organisation that has calls auth is asked as often as this. */
const CONFIRM_EVERY_MS = 60_000;
/** However many organisations have calls. Those that find no place are asked about with a later call. */
const MAX_CONFIRMING = 4;

/** Policies are kept for a moment, as the last event has them, and confirmed by auth while they are in use. */
export function createPolicyOf({
  db,
  log,
  auth,
  monotonicMs,
}: PolicyDeps): (orgId: string) => Promise<Policy> {
  const policies = new BoundedMap<string, { policy: Promise<Policy>; untilMs: number }>(MAX_CACHED);
  const confirmAtMs = new BoundedMap<string, number>(MAX_CACHED);
  let confirming = 0;

  return async (orgId) => {
    const known = policies.get(orgId);
    if (known && known.untilMs > monotonicMs()) return known.policy;
    const policy = inNobodysTime(() => readPolicy(orgId));
    policies.set(orgId, { policy, untilMs: monotonicMs() + POLICY_TTL_MS });
    // What failed is asked for again by the next one.
    policy.catch(() => policies.set(orgId, { policy, untilMs: 0 }));
    return policy;
  };

  async function readPolicy(orgId: string): Promise<Policy> {
    const kept = await findPolicy(db, orgId);
    if (kept) {
      void confirm(kept);
      return kept;
    }
    // An organisation whose first event has not arrived yet.
    const told = await askForPolicy(orgId);
    await savePolicy(db, told);
    return told;
  }

  /**
   * Nobody waits for it. Auth's is in force for who reads it next, also where an event had a higher version: that one was forged, or of a change that auth has
   * lost. While auth cannot be asked, the one that is kept is.
   */
  async function confirm(kept: Policy): Promise<void> {
    const { orgId, version } = kept;
    if ((confirmAtMs.get(orgId) ?? 0) > monotonicMs() || confirming >= MAX_CONFIRMING) return;
    confirming += 1;
    try {
      const told = await askForPolicy(orgId);
      if (isDeepStrictEqual(told, kept)) return;
      await correctPolicy(db, kept, told);
      log.warn({ orgId, version, told: told.version }, "auth has told of another policy than the last event");
    } catch (error) {
      log.debug({ err: error, orgId }, "a policy could not be confirmed");
    } finally {
      confirming -= 1;
    }
  }

  async function askForPolicy(orgId: string): Promise<Policy> {
    confirmAtMs.set(orgId, monotonicMs() + CONFIRM_EVERY_MS);
    const by = { $case: "orgId", value: orgId } as const;
    const { organisation } = await auth.getOrganisation({ by }, { retry: true });
    return {
      orgId,
      dailyLimitWon: organisation!.dailyTransferLimitWon,
      incentiveRateBps: organisation!.incentiveRateBps,
      version: organisation!.version,
    };
  }
}

/** Whoever asks first has less time left than others who wait for the same answer. */
function inNobodysTime<T>(work: () => T): T {
  const { deadlineMs: _, ...context } = currentContext() ?? {
    requestId: "",
    traceparent: childTraceparent(),
  };
  return runInContext(context, work);
}
