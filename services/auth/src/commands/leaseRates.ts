import { tx } from "@wonrail/kit/db";
import { invalidRequest } from "@wonrail/kit/contract/errors";
import { type Id } from "@wonrail/kit/contract/ids";
import { type Outcome } from "@wonrail/kit/batchQueue";
import { type Deps } from "./deps";
import { drawTokens, type RateDraw, type RateRule } from "../domain/rates";
import { lockRateBuckets, updateRateBuckets } from "../store/rateBuckets";

export interface LeaseRateInput {
  orgId: Id<"org">;
  wanted: number;
}

export type RateLease = Omit<RateDraw, "bucket"> & { rule: RateRule };

/** Draws for all requests that queued during the last draw, in the order of the queue. */
export async function leaseRates({ db }: Deps, inputs: LeaseRateInput[]): Promise<Outcome<RateLease>[]> {
  const orgIds = [...new Set(inputs.map(({ orgId }) => orgId))].sort();
  return tx(db, async (tx) => {
    const locked = await lockRateBuckets(tx, orgIds);
    const buckets = new Map(locked.map((row) => [row.orgId, row]));
    const outcomes = inputs.map(({ orgId, wanted }): Outcome<RateLease> => {
      const found = buckets.get(orgId);
      if (!found) {
        return {
          ok: false,
          error: invalidRequest([{ path: "orgId", message: "there is no such organisation" }]),
        };
      }
      const { bucket, ...draw } = drawTokens(found.bucket, found.rule, found.now, wanted);
      buckets.set(orgId, { ...found, bucket });
      return { ok: true, value: { ...draw, rule: found.rule } };
    });
    await updateRateBuckets(tx, [...buckets.values()]);
    return outcomes;
  });
}
