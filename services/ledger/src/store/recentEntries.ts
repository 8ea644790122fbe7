import { hexOf } from "@wonrail/kit/ids";
import type { Entry } from "../domain/types";

/** What this process has just committed, until it is published: saves reading it back. */
export interface RecentEntries {
  /** Only of what is committed for certain: another try may have posted it differently. */
  remember(entries: Iterable<Entry>): void;
  /** The id may have any prefix. */
  take(orgId: string, requestId: string): Entry | undefined;
  /** A stand-by may have lost what the database before it had committed, and has posted it at another place since. */
  forgetAll(): void;
}

export function createRecentEntries(maxEntries: number): RecentEntries {
  const recent = new Map<string, Entry>();
  return {
    remember(entries) {
      for (const entry of entries) {
        if (recent.size >= maxEntries) recent.delete(recent.keys().next().value!);
        recent.set(hexOf(entry.requestId), entry);
      }
    },
    take(orgId, requestId) {
      const entry = recent.get(hexOf(requestId));
      if (entry?.orgId !== orgId) return undefined;
      recent.delete(hexOf(requestId));
      return entry;
    },
    forgetAll: () => recent.clear(),
  };
}
