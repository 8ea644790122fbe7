import { idToUuid, idTimeMs } from "@wonrail/kit/contract/ids";
import type { Outcome } from "../domain/types";
import type { EntryKey } from "./entryChecks";

/** What looks for entries by the time of their ids finds those that are younger than this for certain, whatever the clocks say. */
const FOUND_BY_TIME_MS = 4 * 60_000;

/** What this process posted under ids of an earlier time, as the ends of holds have them: until it is verified. */
export interface PostedLate {
  /** Of what is committed, and of what was found to be. */
  remember(outcomes: readonly Outcome[]): void;
  waiting(): EntryKey[];
  verified(keys: EntryKey[]): void;
  /** How many there was no room for, since this was asked last. */
  takeLost(): number;
}

export function createPostedLate(maxEntries: number, now: () => number = Date.now): PostedLate {
  const late = new Map<string, EntryKey>();
  let lost = 0;
  return {
    remember(outcomes) {
      const beforeMs = now() - FOUND_BY_TIME_MS;
      for (const outcome of outcomes) {
        if (outcome.status !== "posted" || idTimeMs(outcome.entry.requestId) >= beforeMs) continue;
        const { orgId, requestId } = outcome.entry;
        const key = { orgId: idToUuid(orgId), entryId: idToUuid(requestId) };
        if (late.size < maxEntries) late.set(keyOfEntry(key), key);
        else lost += 1;
      }
    },
    waiting: () => [...late.values()],
    verified(keys) {
      for (const key of keys) late.delete(keyOfEntry(key));
    },
    takeLost() {
      const were = lost;
      lost = 0;
      return were;
    },
  };
}

export function keyOfEntry({ orgId, entryId }: EntryKey): string {
  return `${orgId} ${entryId}`;
}
