import { type Queryable, type Tx } from "@wonrail/kit/db";
import { groupBy } from "@wonrail/kit/groupBy";
import { envelopeOf, type ReceivedEvent } from "@wonrail/kit/inbox";
import { type Entry } from "@wonrail/proto/ledger/v1/ledger";
import { type BacklogNow, findBacklog, insertShelved } from "../store/shelf";
import { ingestEntries } from "./ingest";

/** Whose entries come to so long a backlog that they can wait as they came; as it was some seconds ago at the most. */
export interface Backlog {
  look(db: Queryable): Promise<(orgId: string) => boolean>;
}

export interface ReceivedEntry {
  origin: ReceivedEvent;
  entry: Entry;
}

/** More than is planned ahead. */
const LONG = 10_000;
const KNOWN_FOR_MS = 1_000;
/** That there is one is looked up less often: it takes a look through all of it, and what goes on the shelf although it is gone is taken off soon. */
const LONG_FOR_MS = 4_000;

export function createBacklog(nowMs: () => number, long = LONG): Backlog {
  let now: BacklogNow = { isEverybodys: false, orgIds: [] };
  let lookedMs = -Infinity;
  return {
    async look(db) {
      const wasLong = now.isEverybodys || now.orgIds.length > 0;
      if (nowMs() - lookedMs >= (wasLong ? LONG_FOR_MS : KNOWN_FOR_MS)) {
        now = await findBacklog(db, long);
        lookedMs = nowMs();
      }
      const { isEverybodys, orgIds } = now;
      return (orgId) => isEverybodys || orgIds.includes(orgId);
    },
  };
}

/**
 * Takes in ledger entries as the bus brings them. Behind a long backlog they go on the shelf, at a tenth of the cost, until their lane comes to them. One that
 * comes alone is taken in at once: an operator may have had it tried again, who is to be told what becomes of it. False when all went on the shelf.
 */
export async function receiveEntries(tx: Tx, entries: ReceivedEntry[], backlog: Backlog): Promise<boolean> {
  if (entries.length === 1) {
    await ingestEntries(tx, entries);
    return true;
  }
  const canWait = await backlog.look(tx);
  const atOnce: ReceivedEntry[] = [];
  // In the order of their ids, as two replicas may both make lanes.
  const byOrg = [...groupBy(entries, ({ origin }) => origin.orgId)].sort(([one], [other]) =>
    one < other ? -1 : 1,
  );
  for (const [orgId, those] of byOrg) {
    if (canWait(orgId))
      insertShelved(
        tx,
        orgId,
        those.map(({ origin }) => envelopeOf(origin)),
      );
    else atOnce.push(...those);
  }
  if (atOnce.length > 0) await ingestEntries(tx, atOnce);
  return atOnce.length > 0;
}
