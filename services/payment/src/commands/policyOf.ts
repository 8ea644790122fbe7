import { isDeepStrictEqual } from "node:util";
import { LRUCache } from "lru-cache";
import { childTraceparent, currentContext, runInContext } from "@wonrail/kit/context";
import { type Database } from "@wonrail/kit/db";
import { type PromiseClient } from "@wonrail/kit/grpc/client";
import { type Log } from "@wonrail/kit/log";
import { type AuthServiceService, type Organisation } from "@wonrail/proto/auth/v1/auth";
import { correctPolicy, findPolicy, type Policy, savePolicy } from "../store/policies";

export interface PolicyDeps {
  db: Database;
  log: Log;
  auth: Pick<PromiseClient<AuthServiceService>, "getOrganisation">;
  /** Milliseconds of a clock that never jumps. */
  monotonicMs: () => number;
}

const MAX_CACHED = 100_000;

/** A changed policy is in force everywhere this long after its event arrived. */
const POLICY_TTL_MS = 1_000;
/** Interval between questions to auth about an active organisation, in case an event was lost. */
const CONFIRM_EVERY_MS = 60_000;
/** Limit of questions to auth at one time. An organisation beyond it waits for a later call. */
const MAX_CONFIRMING = 4;

/** Caches policies for a second and confirms them with auth once a minute, beside the calls. */
export function createPolicyOf({
  db,
  log,
  auth,
  monotonicMs,
}: PolicyDeps): (orgId: string) => Promise<Policy> {
  const policies = new LRUCache<string, { policy: Promise<Policy>; untilMs: number }>({ max: MAX_CACHED });
  const confirmAtMs = new LRUCache<string, number>({ max: MAX_CACHED });
  let confirming = 0;

  return async (orgId) => {
    const known = policies.get(orgId);
    if (known && known.untilMs > monotonicMs()) return known.policy;
    const policy = withoutDeadline(() => readPolicy(orgId));
    policies.set(orgId, { policy, untilMs: monotonicMs() + POLICY_TTL_MS });
    // After a failure the next call reads again.
    policy.catch(() => policies.set(orgId, { policy, untilMs: 0 }));
    return policy;
  };

  async function readPolicy(orgId: string): Promise<Policy> {
    const stored = await findPolicy(db, orgId);
    if (stored) {
      void confirm(stored);
      return stored;
    }
    // The organisation's first event has not arrived yet.
    const answered = await askAuth(orgId);
    await savePolicy(db, answered);
    return answered;
  }

  /**
   * Replaces the stored policy when auth answers another, also when the stored version is higher: that event was forged,
   * or auth lost the change. No caller waits for it. While auth is away the stored policy stays in force.
   */
  async function confirm(stored: Policy): Promise<void> {
    const { orgId, version } = stored;
    if ((confirmAtMs.get(orgId) ?? 0) > monotonicMs() || confirming >= MAX_CONFIRMING) return;
    confirming += 1;
    try {
      const answered = await askAuth(orgId);
      if (isDeepStrictEqual(answered, stored)) return;
      await correctPolicy(db, stored, answered);
      log.warn({ orgId, version, answered: answered.version }, "auth's policy differs from the last event's");
    } catch (error) {
      log.debug({ err: error, orgId }, "a policy could not be confirmed");
    } finally {
      confirming -= 1;
    }
  }

  async function askAuth(orgId: string): Promise<Policy> {
    confirmAtMs.set(orgId, monotonicMs() + CONFIRM_EVERY_MS);
    const by = { $case: "orgId", value: orgId } as const;
    const { organisation } = await auth.getOrganisation({ by }, { retry: true });
    return policyFrom(orgId, organisation!);
  }
}

/** The part of auth's message that payment stores. */
export function policyFrom(orgId: string, organisation: Organisation): Policy {
  return {
    orgId,
    dailyLimitWon: organisation.dailyTransferLimitWon,
    dailyChargeLimitWon: organisation.dailyChargeLimitWon,
    maxChargeWon: organisation.maxChargeWon,
    incentiveRateBps: organisation.incentiveRateBps,
    version: organisation.version,
  };
}

/** Several calls share one read. The deadline of the first caller must not end it for the others. */
function withoutDeadline<T>(work: () => T): T {
  const { deadlineMs: _, ...context } = currentContext() ?? {
    requestId: "",
    traceparent: childTraceparent(),
  };
  return runInContext(context, work);
}
