import { tx, type Tx } from "@wonrail/kit/db";
import { ZERO_WON } from "@wonrail/kit/contract/money";
import { appendEvents } from "@wonrail/kit/outbox";
import { failpoint } from "@wonrail/kit/failpoint";
import { decideTogether, type Answer } from "../intents/decide";
import type { Account, LedgerRequest, Origin } from "../domain/types";
import { eventsOf } from "../events";
import { writeChanges } from "../store/changes";
import { loadState } from "../store/state";
import { clocksOf, ensureOrgs, type BatchDeps } from "./postBatch";

/** Requests of one organisation that are posted all or none. */
export interface Group {
  requests: LedgerRequest[];
  origin: Origin;
  /** True: decides and writes nothing. */
  isDryRun: boolean;
  /** Writes more in the same transaction. Its error rolls the group back. */
  record?: (tx: Tx, group: DecidedGroup) => Promise<void>;
}

/** The answers before the commit, and the locked accounts as they were. */
export interface DecidedGroup {
  answers: Answer[];
  accounts: Account[];
}

/** Posts a group in one transaction, like a batch. The returned answers are durable unless it is a dry run. */
export async function postTogether(deps: BatchDeps, group: Group): Promise<Answer[]> {
  const { requests, origin, isDryRun, record } = group;
  try {
    await ensureOrgs(deps, requests);
    const answers = await tx(deps.db, async (tx) => {
      const [state, clocks] = await Promise.all([
        loadState(tx, deps.facts, requests, () => undefined),
        clocksOf(tx, deps, requests),
      ]);
      // A group has no charges, so it takes nothing from the budget of charges.
      const { answers, changes } = decideTogether({ ...state, clocks, chargeRoomWon: ZERO_WON }, requests);
      if (isDryRun) return answers;
      await record?.(tx, { answers, accounts: state.accounts });
      const origins = new Map(changes.answered.map(({ request }) => [request, origin]));
      writeChanges(tx, changes, { nowMs: state.nowMs, origins });
      await appendEvents(tx, eventsOf(changes, origins));
      await failpoint("ledger.before_commit");
      return answers;
    });
    await failpoint("ledger.committed");
    return answers;
  } catch (error) {
    // As in postBatch: the next try takes nothing for known.
    deps.facts.forgetAll();
    deps.knownOrgs.clear();
    throw error;
  }
}
