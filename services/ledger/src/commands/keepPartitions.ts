import type { Database } from "@wonrail/kit/db";
import type { Log } from "@wonrail/kit/log";
import { ensurePartitions, readJournalWindow, type JournalWindow } from "../store/partitions";

const AHEAD_MS = 62 * 24 * 3_600_000;

export interface WindowWatch {
  /** Without a wait, so that requests that came in order stay in order. */
  current(): JournalWindow;
  refresh(): Promise<void>;
}

/** Which ids the journal can take, as it was read last. */
export async function watchWindow(db: Database): Promise<WindowWatch> {
  let window = await readJournalWindow(db);
  return {
    current: () => window,
    async refresh() {
      window = await readJournalWindow(db);
    },
  };
}

/** Makes the journal's coming months, long before the first request of a month arrives, and sees what an operator has detached. */
export async function keepPartitions({
  db,
  log,
  window,
}: {
  db: Database;
  log: Log;
  window: WindowWatch;
}): Promise<void> {
  const made = await ensurePartitions(db, AHEAD_MS);
  if (made > 0) log.info({ months: made }, "journal partitions made");
  await window.refresh();
}
