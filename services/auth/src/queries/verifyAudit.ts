import { tx, type Tx } from "@wonrail/kit/db";
import { uuidToId, type Id } from "@wonrail/kit/ids";
import { type Deps } from "../app";
import { brokenLink, EMPTY_CHAIN, type AuditHead } from "../domain/auditEntries";
import { listAuditHeads, pageOfAuditEntries } from "../store/auditEntries";

export interface AuditProblem {
  orgId: Id<"org">;
  /** Where the chain breaks. */
  sequence: bigint;
  problem: string;
}

export interface AuditReport {
  organisations: number;
  entries: number;
  problems: AuditProblem[];
}

const PAGE = 1_000;
const FIRST_ORG = uuidToId("org", "00000000-0000-0000-0000-000000000000");

/** Follows every organisation's chain from its first entry to its head, in one snapshot. At most one problem for each chain. */
export async function verifyAudit({ db }: Deps, signal?: AbortSignal): Promise<AuditReport> {
  return tx(
    db,
    async (tx) => {
      const { ends, problems, entries } = await followChains(tx, signal);
      const { organisations, cutOff } = await compareWithHeads(
        tx,
        ends,
        new Set(problems.map(({ orgId }) => orgId)),
      );
      return { organisations, entries, problems: [...problems, ...cutOff] };
    },
    { isolation: "repeatable read", readOnly: true },
  );
}

async function followChains(tx: Tx, signal?: AbortSignal) {
  const ends = new Map<Id<"org">, AuditHead>();
  const problems = new Map<Id<"org">, AuditProblem>();
  let entries = 0;
  let after = { orgId: FIRST_ORG, sequence: 0n };
  for (
    let page = await pageOfAuditEntries(tx, after, PAGE);
    page.length > 0;
    page = await pageOfAuditEntries(tx, after, PAGE)
  ) {
    for (const entry of page) {
      const { orgId } = entry;
      const problem = brokenLink(ends.get(orgId) ?? EMPTY_CHAIN, entry);
      if (problem !== null && !problems.has(orgId))
        problems.set(orgId, { orgId, sequence: entry.sequence, problem });
      ends.set(orgId, entry);
      after = { orgId, sequence: entry.sequence };
    }
    entries += page.length;
    signal?.throwIfAborted();
  }
  return { ends, problems: [...problems.values()], entries };
}

async function compareWithHeads(tx: Tx, ends: Map<Id<"org">, AuditHead>, known: Set<Id<"org">>) {
  const cutOff: AuditProblem[] = [];
  let organisations = 0;
  let afterOrgId = FIRST_ORG;
  for (
    let page = await listAuditHeads(tx, afterOrgId, PAGE);
    page.length > 0;
    page = await listAuditHeads(tx, afterOrgId, PAGE)
  ) {
    for (const { orgId, head } of page) {
      const end = ends.get(orgId) ?? EMPTY_CHAIN;
      const whole = head !== null && head.sequence === end.sequence && head.hash.equals(end.hash);
      if (!whole && !known.has(orgId)) {
        cutOff.push({ orgId, sequence: end.sequence, problem: "the chain does not end where its head says" });
      }
      afterOrgId = orgId;
    }
    organisations += page.length;
  }
  return { organisations, cutOff };
}
