import { NO_CLOCKS, type SandboxClocks } from "@wonrail/kit/contract/sandboxClock";
import { CommitUnknownError, tx, type Database, type Tx } from "@wonrail/kit/db";
import { appendEvents } from "@wonrail/kit/outbox";
import { failpoint } from "@wonrail/kit/failpoint";
import { findClocks } from "@wonrail/kit/sandboxClocks";
import { decide, type Decision } from "../intents/decide";
import type { LedgerRequest, Origin } from "../domain/types";
import { eventsOf } from "../events";
import { ensureOrgAccounts } from "../store/accounts";
import { ensureHeads } from "../store/journalHeads";
import { writeChanges } from "../store/changes";
import type { FactsCache } from "../store/factsCache";
import { loadState } from "../store/state";
import type { ChargeBudget, Reservation } from "./chargeBudget";

/** A request with its origin and its deadline. */
export interface Item {
  request: LedgerRequest;
  origin: Origin;
  /** By this process's clock. Afterwards the caller no longer waits for the answer. */
  deadlineMs: number;
}

export interface BatchDeps {
  db: Database;
  /** Organisations whose own accounts exist. */
  knownOrgs: Set<string>;
  facts: FactsCache;
  chargeBudget: ChargeBudget;
  /** Whether organisations can have test clocks. */
  hasSandbox: boolean;
}

/** Callbacks for the progress of a batch. */
export interface BatchWatch {
  onLocked: () => void;
  /**
   * Called when everything is sent; this process has no work for the batch until the commit is
   * answered.
   */
  onWriting: () => void;
}

const MAX_KNOWN_ORGS = 100_000;

/** Posts a batch in one transaction: lock, decide, write, commit. The returned decision is durable. */
export async function postBatch(
  deps: BatchDeps,
  items: readonly Item[],
  { onLocked, onWriting }: BatchWatch,
): Promise<Decision> {
  const requests = items.map(({ request }) => request);
  let reserved: Reservation | undefined;
  try {
    await ensureOrgs(deps, requests);
    const { day, roomWon } = await deps.chargeBudget.reserve(chargedBy(requests));
    reserved = { day, roomWon };
    const decision = await tx(deps.db, async (tx) => {
      const [state, clocks] = await Promise.all([
        loadState(tx, deps.facts, requests, onLocked),
        clocksOf(tx, deps, requests),
      ]);
      const decision = decide({ ...state, clocks, chargeRoomWon: roomWon }, requests);
      const origins = new Map(items.map(({ request, origin }) => [request, origin]));
      writeChanges(tx, decision.changes, { nowMs: state.nowMs, origins });
      await appendEvents(tx, eventsOf(decision.changes, origins));
      await failpoint("ledger.before_commit");
      onWriting();
      return decision;
    });
    reserved = undefined;
    deps.chargeBudget.giveBack({ day, roomWon: decision.book.chargeRoomWon });
    await failpoint("ledger.committed");
    return decision;
  } catch (error) {
    // After an unknown commit the charges may be posted.
    if (reserved && !(error instanceof CommitUnknownError)) deps.chargeBudget.giveBack(reserved);
    // The next try takes nothing for known: the database may be another one by now, without the last accounts.
    deps.facts.forgetAll();
    deps.knownOrgs.clear();
    throw error;
  }
}

function chargedBy(requests: LedgerRequest[]): bigint {
  return requests.reduce((sum, { intent }) => (intent.kind === "charge" ? sum + intent.amountWon : sum), 0n);
}

/** An advance is answered after its commit, so the requests that follow it see it. */
export async function clocksOf(
  tx: Tx,
  { hasSandbox }: Pick<BatchDeps, "hasSandbox">,
  requests: readonly LedgerRequest[],
): Promise<SandboxClocks> {
  return hasSandbox ? findClocks(tx, [...new Set(requests.map(({ orgId }) => orgId))]) : NO_CLOCKS;
}

export async function ensureOrgs(
  { db, knownOrgs }: Pick<BatchDeps, "db" | "knownOrgs">,
  requests: readonly LedgerRequest[],
): Promise<void> {
  const unknown = new Set(requests.map(({ orgId }) => orgId).filter((orgId) => !knownOrgs.has(orgId)));
  if (unknown.size === 0) return;
  await ensureOrgAccounts(db, [...unknown]);
  await ensureHeads(db, [...unknown]);
  if (knownOrgs.size + unknown.size > MAX_KNOWN_ORGS) knownOrgs.clear();
  for (const orgId of unknown) knownOrgs.add(orgId);
}
