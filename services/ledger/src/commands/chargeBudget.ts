import type { Database } from "@wonrail/kit/db";
import { ZERO_WON, won, type Won } from "@wonrail/kit/contract/money";
import type { Log } from "@wonrail/kit/log";
import { seoulDay } from "../domain/limits";
import { grantCharges } from "../store/chargeDays";

/** A part of the day's limit that one batch may charge. */
export interface Reservation {
  day: number;
  roomWon: Won;
}

/**
 * The limit of all charges of the service on one day of Asia/Seoul. A replica takes a part of the
 * limit at a time, so batches of different organisations do not wait for one row. The rest of a
 * replica that ends is lost for the day, so charges never exceed the limit.
 */
export interface ChargeBudget {
  /** Takes the wanted amount, or the rest of the limit. */
  reserve(wantedWon: bigint): Promise<Reservation>;
  giveBack(reservation: Reservation): void;
}

/** Grants are this part of the limit, or more when a batch needs more. */
const PARTS = 1_000n;

export function createChargeBudget({
  db,
  log,
  limitWon,
  now,
}: {
  db: Database;
  log: Log;
  limitWon: Won;
  now: () => number;
}): ChargeBudget {
  let [day, leftWon, shortDay] = [0, 0n, 0];
  return {
    async reserve(wantedWon) {
      const today = seoulDay(now());
      if (today !== day) [day, leftWon] = [today, 0n];
      if (wantedWon === 0n) return { day, roomWon: ZERO_WON };
      if (leftWon < wantedWon) {
        const missingWon = wantedWon - leftWon;
        const partWon = limitWon / PARTS;
        const granted = await grantCharges(db, today, missingWon > partWon ? missingWon : partWon, limitWon);
        if (granted < missingWon && shortDay !== today) {
          shortDay = today;
          log.error({ limitWon: `${limitWon}` }, "the service's daily limit of charges is reached");
        }
        if (today === day) leftWon += granted;
      }
      const roomWon = won(leftWon < wantedWon ? leftWon : wantedWon);
      leftWon -= roomWon;
      return { day: today, roomWon };
    },
    giveBack({ day: of, roomWon }) {
      if (of === day) leftWon += roomWon;
    },
  };
}
