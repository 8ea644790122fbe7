import { tx } from "@wonrail/kit/db";
import { DomainError, invalidRequest } from "@wonrail/kit/contract/errors";
import { type Id } from "@wonrail/kit/contract/ids";
import { MAX_CLOCK_OFFSET_MS } from "@wonrail/kit/contract/sandboxClock";
import { advanceClock as advance, findOffsetMs } from "@wonrail/kit/sandboxClocks";
import { type Deps } from "./deps";
import { findApiKey, moveKeyEnds } from "../store/apiKeys";
import { lockOrganisation } from "../store/organisations";
import { recordChange } from "./recordChange";

export interface AdvanceClockInput {
  orgId: Id<"org">;
  /** The key that asks. */
  keyId: Id<"key">;
  /** The time that the clock shall show. Null: the clock stays. */
  to: Date | null;
}

export interface ClockReading {
  offsetMs: number;
  /** The real time. */
  now: Date;
}

/**
 * Moves an organisation's test clock forward, for the sandbox. The ends of its keys come nearer by as
 * much, and the times of issue stay.
 */
export function advanceClock({ db }: Deps, { orgId, keyId, to }: AdvanceClockInput): Promise<ClockReading> {
  return tx(db, async (tx) => {
    const locked = await lockOrganisation(tx, orgId);
    const key = locked && (await findApiKey(tx, orgId, keyId));
    if (!key) throw new DomainError("WAUTH_001");
    const { now } = locked;
    const wantedMs = to === null ? 0 : to.getTime() - now.getTime();
    if (wantedMs > MAX_CLOCK_OFFSET_MS)
      throw invalidRequest([{ path: "to", message: "must be at most ten years ahead of the real time" }]);
    const byMs = await advance(tx, { orgId, offsetMs: wantedMs });
    if (byMs > 0) {
      await moveKeyEnds(tx, orgId, byMs);
      await recordChange(tx, {
        ...{ orgId, at: now, actor: `key:${key.prefix}`, action: "sandbox_clock_advanced" },
        ...{ subject: key.prefix, details: { offsetMs: wantedMs }, events: [] },
        changes: [{ kind: "organisation_changed", orgId, version: locked.organisation.version.toString() }],
      });
    }
    return { offsetMs: await findOffsetMs(tx, orgId), now };
  });
}
