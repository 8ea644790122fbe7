import type { Queryable } from "@wonrail/kit/db";
import { type CountedTraffic, listMinutes, readTraffic, type TrafficMinute } from "../store/traffic";
import { listVerifications, type Verification } from "../store/verifications";

export interface Overview extends CountedTraffic {
  minutes: TrafficMinute[];
  verifications: Verification[];
}

const MINUTES_SHOWN = 60;

/** The traffic of the last minutes, and whether the books agree. */
export async function getOverview(db: Queryable): Promise<Overview> {
  return {
    ...(await readTraffic(db)),
    minutes: await listMinutes(db, MINUTES_SHOWN),
    verifications: await listVerifications(db),
  };
}
