import { BoundedMap } from "@wonrail/kit/boundedMap";
import { hexOf } from "@wonrail/kit/contract/ids";
import type { Entry } from "../domain/types";

/** What this process has just committed, until it is published: saves reading it back. */
export interface RecentEntries {
  /** Only of what is committed for certain: another try may have posted it differently. */
  remember(entries: Iterable<Entry>): void;
  /** Gives it once. The id may have any prefix. */
  take(orgId: string, requestId: string): Entry | undefined;
  /** A stand-by may have lost what the database before it had committed, and has posted it at another place since. */
  forgetAll(): void;
}

/** A taken entry leaves an empty place. Single deletions would keep entries alive (docs/performance/memory.md). */
interface Place {
  entry: Entry | undefined;
}

export function createRecentEntries(maxEntries: number): RecentEntries {
  const none = () => new BoundedMap<string, Place>(maxEntries);
  let recent = none();
  return {
    remember(entries) {
      for (const entry of entries) recent.set(hexOf(entry.requestId), { entry });
    },
    take(orgId, requestId) {
      const place = recent.get(hexOf(requestId));
      const entry = place?.entry;
      if (!place || entry?.orgId !== orgId) return undefined;
      place.entry = undefined;
      return entry;
    },
    forgetAll: () => (recent = none()),
  };
}
