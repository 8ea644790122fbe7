import type { Database } from "@wonrail/kit/db";
import { idTimeMs } from "@wonrail/kit/ids";
import type { Log } from "@wonrail/kit/log";
import { ensurePartitions, readJournalWindow, type JournalWindow } from "../store/partitions";

const AHEAD_MS = 62 * 24 * 3_600_000;
const REFRESH_MS = 60_000;

export interface WindowWatch {
  /** As it was read last, or freshly when this id would be refused by that. */
  of(requestId: string): Promise<JournalWindow>;
  forget(): void;
}

/** Which ids the journal can take, without asking the database for each request. */
export function watchWindow(db: Database): WindowWatch {
  let known: JournalWindow | undefined;
  let readAtMs = 0;
  return {
    async of(requestId) {
      const timeMs = idTimeMs(requestId);
      const outside = !known || !(timeMs >= known.fromMs && timeMs < known.untilMs);
      // An old month may be detached at any time; a refusal is asked for again, but not by every bad request.
      const stale = Date.now() - readAtMs > (outside ? 1_000 : REFRESH_MS);
      if (!known || stale) {
        readAtMs = Date.now();
        known = await readJournalWindow(db);
      }
      return known;
    },
    forget() {
      known = undefined;
    },
  };
}

/** Makes the journal's coming months, long before the first request of a month arrives. */
export async function keepPartitions({
  db,
  log,
  window,
}: {
  db: Database;
  log: Log;
  window: WindowWatch;
}): Promise<void> {
  const made = await ensurePartitions(db, Date.now() + AHEAD_MS);
  if (made === 0) return;
  window.forget();
  log.info({ months: made }, "journal partitions made");
}
