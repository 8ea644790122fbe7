import type { Database } from "@wonrail/kit/db";
import type { Log } from "@wonrail/kit/log";
import { ensurePartitions, readJournalWindow, type JournalWindow } from "../store/partitions";

const AHEAD_MS = 62 * 24 * 3_600_000;

export interface JournalWindowWatch {
  /** Synchronous, so that requests keep their order. */
  current(): JournalWindow;
  refresh(): Promise<void>;
}

/** The journal's present range of ids. */
export async function openJournalWindow(db: Database): Promise<JournalWindowWatch> {
  let window = await readJournalWindow(db);
  return {
    current: () => window,
    async refresh() {
      window = await readJournalWindow(db);
    },
  };
}

/** Creates the journal's coming months ahead of time, and notices detached ones. */
export async function maintainPartitions({
  db,
  log,
  window,
}: {
  db: Database;
  log: Log;
  window: JournalWindowWatch;
}): Promise<void> {
  const made = await ensurePartitions(db, AHEAD_MS);
  if (made > 0) log.info({ months: made }, "journal partitions made");
  await window.refresh();
}
