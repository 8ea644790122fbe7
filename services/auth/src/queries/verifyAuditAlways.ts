import { tx, type Database, type Tx } from "@wonrail/kit/db";
import { uuidToId, type Id } from "@wonrail/kit/contract/ids";
import { brokenLink, EMPTY_CHAIN, sameEnd, type AuditHead } from "../domain/auditEntries";
import {
  auditEntriesAfter,
  listAuditChains,
  pageOfAuditEntries,
  type AuditChain,
} from "../store/auditEntries";

export interface AuditProblem {
  orgId: Id<"org">;
  /** The first entry that breaks the chain. */
  sequence: bigint;
  problem: string;
}

export interface AuditReport {
  organisations: number;
  /** The number of old entries that the round read; new entries are extra. */
  entries: number;
  problems: AuditProblem[];
}

/** The state between rounds. It grows with the organisations, not with their entries. */
interface Known {
  /** The last sound entry of each chain. */
  ends: Map<Id<"org">, AuditHead>;
  /** The position of the walk through all entries. */
  turn: AuditHead & { orgId: Id<"org"> };
  /** The heads at the start are known, so later entries are new. */
  begun: boolean;
}

const PAGE = 1_000;
/**
 * Takes a fifth of a second per round: most trails in one round, a million entries within an hour.
 */
const OLD_AT_ONCE = 10_000;
const FIRST_ORG = uuidToId("org", "00000000-0000-0000-0000-000000000000");
const START = { orgId: FIRST_ORG, ...EMPTY_CHAIN };

/**
 * Each round verifies the new entries of every chain and the next `oldAtOnce` entries of all. A
 * round reads one snapshot. It reports every known problem, one for each chain, until the problem
 * is gone.
 */
export function verifyAuditAlways({ db, oldAtOnce = OLD_AT_ONCE }: { db: Database; oldAtOnce?: number }) {
  const known: Known = { ends: new Map(), turn: START, begun: false };
  return (signal?: AbortSignal): Promise<AuditReport> =>
    tx(
      db,
      async (tx) => {
        const entries = await readOld(tx, known, oldAtOnce, signal);
        return { entries, ...(await readNew(tx, known, signal)) };
      },
      { isolation: "repeatable read", readOnly: true },
    );
}

/**
 * Keeps the last sound entry as the end of a broken chain, so that each round follows the chain
 * from there.
 */
async function readOld(tx: Tx, known: Known, atMost: number, signal?: AbortSignal): Promise<number> {
  let entries = 0;
  while (entries < atMost) {
    signal?.throwIfAborted();
    const limit = Math.min(PAGE, atMost - entries);
    const page = await pageOfAuditEntries(tx, known.turn, limit);
    for (const entry of page) {
      const before = entry.orgId === known.turn.orgId ? known.turn : EMPTY_CHAIN;
      if (brokenLink(before, entry) !== null) putBack(known, entry.orgId, before);
      known.turn = entry;
    }
    entries += page.length;
    if (page.length < limit) {
      known.turn = START;
      break;
    }
  }
  return entries;
}

function putBack({ ends }: Known, orgId: Id<"org">, { sequence, hash }: AuditHead): void {
  const end = ends.get(orgId);
  if (end === undefined || end.sequence > sequence) ends.set(orgId, { sequence, hash });
}

async function readNew(tx: Tx, known: Known, signal?: AbortSignal) {
  const problems: AuditProblem[] = [];
  const gone = new Map(known.ends);
  let organisations = 0;
  let afterOrgId = FIRST_ORG;
  for (
    let page = await listAuditChains(tx, afterOrgId, PAGE);
    page.length > 0;
    page = await listAuditChains(tx, afterOrgId, PAGE)
  ) {
    for (const chain of page) {
      const problem = await follow(tx, known, chain, signal);
      if (problem !== null) problems.push(problem);
      gone.delete(chain.orgId);
      afterOrgId = chain.orgId;
    }
    organisations += page.length;
  }
  for (const [orgId, { sequence }] of gone) {
    problems.push({ orgId, sequence, problem: "its organisation was removed" });
  }
  known.begun = true;
  return { organisations, problems };
}

/** The entries after the known end. A broken chain is read to its first broken link only. */
async function follow(
  tx: Tx,
  { ends, begun }: Known,
  { orgId, head, last }: AuditChain,
  signal?: AbortSignal,
): Promise<AuditProblem | null> {
  if (head === null || !sameEnd(last, head))
    return { orgId, sequence: last.sequence, problem: "the chain does not end where its head says" };
  let end = ends.get(orgId) ?? (begun ? EMPTY_CHAIN : head);
  while (end.sequence < last.sequence) {
    signal?.throwIfAborted();
    for (const entry of await auditEntriesAfter(tx, orgId, end.sequence, PAGE)) {
      const { sequence, hash } = entry;
      const problem = brokenLink(end, entry);
      if (problem !== null) return { orgId, sequence, problem };
      end = { sequence, hash };
      ends.set(orgId, end);
    }
  }
  if (!sameEnd(end, head))
    return { orgId, sequence: last.sequence, problem: "the chain was replaced behind what was verified" };
  ends.set(orgId, end);
  return null;
}
