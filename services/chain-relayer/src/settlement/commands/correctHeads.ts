import { tx, type Tx } from "@wonrail/kit/db";
import { readOrganisation } from "../domain/entryFields";
import { type JournalHead, listReplaced, moveHeads } from "../store/settlementQueues";
import { type PullDeps, pullQueue } from "./pullEntries";

const PAGE = 1_000;

/** Notes that the journals of these organisations have new entries. */
export async function recordHeads(tx: Tx, heads: JournalHead[]): Promise<void> {
  await moveHeads(
    tx,
    heads.map(({ orgId, sequence }) => ({ orgId: readOrganisation(orgId), sequence })),
  );
}

/**
 * Compares every queue's head with the ledger's, so that a lost event delays an entry by a minute
 * at most, and a restored journal is pulled again.
 */
export async function correctHeads(deps: PullDeps, signal: AbortSignal): Promise<void> {
  for (let afterOrgId: string | undefined, more = true; more && !signal.aborted;) {
    const { heads } = await deps.ledger.listJournalHeads({ afterOrgId, limit: PAGE });
    const found = heads.map(({ orgId, lastSequence, lastRequestId = "" }) => ({
      ...{ orgId, sequence: lastSequence, ref: lastRequestId },
    }));
    await tx(deps.db, (tx) => moveHeads(tx, found));
    for (const queue of await listReplaced(deps.db, found)) await pullQueue(deps, queue);
    afterOrgId = heads.at(-1)?.orgId;
    more = heads.length === PAGE;
  }
}
