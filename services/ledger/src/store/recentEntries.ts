import { hexOf } from "@wonrail/kit/ids";
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

/** Empty once its entry was taken. */
interface Place {
  entry: Entry | undefined;
}

/**
 * Two maps, of which the older one goes as a whole when the younger one is full. In one map from which each entry is deleted as it is taken, V8 kept them alive through the
 * tables that such a map leaves behind (ADR 0160).
 */
export function createRecentEntries(maxEntries: number): RecentEntries {
  let younger = new Map<string, Place>();
  let older = new Map<string, Place>();
  return {
    remember(entries) {
      for (const entry of entries) {
        if (younger.size >= maxEntries / 2) {
          older = younger;
          younger = new Map();
        }
        younger.set(hexOf(entry.requestId), { entry });
      }
    },
    take(orgId, requestId) {
      const key = hexOf(requestId);
      const place = younger.get(key) ?? older.get(key);
      const entry = place?.entry;
      if (!place || entry?.orgId !== orgId) return undefined;
      place.entry = undefined;
      return entry;
    },
    forgetAll() {
      younger = new Map();
      older = new Map();
    },
  };
}
