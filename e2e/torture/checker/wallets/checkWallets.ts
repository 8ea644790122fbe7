import { type Operation } from "../operations";
import { type Violation } from "../violation";
import { boundsBySequence, type Bounds } from "./boundsBySequence";
import { effectsOf } from "./effects";
import { findOrder, type SearchResult, type Step } from "./findOrder";
import { availableOf, describePurses, emptyPurses, endHold, hold, setClosed, type Purses } from "./purses";
import { indexOperations, type IndexFacts, type Wallet } from "./walletIndex";

/** A change that no client called for: a deposit, the end of a hold, a scheduled transfer. */
export interface SystemChange {
  walletId: string;
  change: "credit" | "debit" | "hold" | "post" | "void" | "reopen";
  amount: number;
  /** Its place in the ledger's order of the organisation. */
  sequence: number;
}

export interface WalletFacts extends IndexFacts {
  systemChanges: SystemChange[];
  /**
   * An operation's place in the ledger's order of its organisation. Undefined when the ledger has no
   * effect of it. Without this function, an unknown outcome may take effect at any time or never.
   */
  sequenceOf?: (operation: Operation) => number | undefined;
}

/**
 * A search that gives up takes a minute, and is a violation. Then the history has failed, and the
 * other users' searches may give up early.
 */
const TRIES_AFTER_FAILURE = 30_000;

interface Problem {
  organisation: string;
  steps: Step<Purses>[];
}

/**
 * The history must be linearizable for each user's wallets: some order of the calls, which respects
 * their times, gives every answer.
 *
 * A payment touches two users. Each user's search takes the payment's effect on that user, so a
 * valid history passes every search: a violation is always real. An anomaly that only two users
 * together show passes; the check `journal` finds it, because it replays the ledger's own order of
 * the whole organisation and compares this order with the times of the calls.
 *
 * A change without an answer happened between its neighbours in the ledger's order.
 */
export function checkWallets(operations: Operation[], facts: WalletFacts): Violation[] {
  const index = indexOperations(operations, facts);
  const bounds = boundsBySequence(operations, facts);
  const problems = new Map<string, Problem>();
  const add = ({ user, organisation }: Wallet, step: Step<Purses>): void => {
    const problem = problems.get(user) ?? { organisation, steps: [] };
    problem.steps.push(step);
    problems.set(user, problem);
  };
  for (const operation of operations) {
    const times = timesOf(operation, facts, bounds);
    if (!times) continue;
    for (const { wallet, apply } of effectsOf(operation, index))
      add(wallet, { operation: operation.id, ...times, apply });
  }
  for (const change of facts.systemChanges) {
    const wallet = index.walletOf(change.walletId);
    if (!wallet) continue;
    const times = bounds(wallet.organisation, change.sequence);
    add(wallet, { operation: undefined, ...times, isCertain: true, apply: systemChange(wallet, change) });
  }
  let limit: { maxTries?: number } = {};
  return [...problems].flatMap(([user, { organisation, steps }]) => {
    const result = findOrder({ state: emptyPurses(), describe: describePurses, steps, ...limit });
    if (!result.found && result.gaveUp) limit = { maxTries: TRIES_AFTER_FAILURE };
    return result.found ? [] : [violationOf(user, organisation, result)];
  });
}

type Times = Pick<Step<Purses>, "from" | "until" | "isCertain">;

/** Undefined when the operation had no effect. */
function timesOf(operation: Operation, { sequenceOf }: WalletFacts, bounds: Bounds): Times | undefined {
  const { invokedAt: from, outcome, organisation } = operation;
  if (outcome) return { from, until: outcome.at, isCertain: true };
  if (!sequenceOf) return { from, until: Infinity, isCertain: false };
  const sequence = sequenceOf(operation);
  if (sequence === undefined) return undefined;
  return { from, until: bounds(organisation, sequence).until, isCertain: true };
}

function systemChange({ type }: Wallet, { change, amount }: SystemChange): Step<Purses>["apply"] {
  return (purses) => {
    const purse = purses[type];
    switch (change) {
      case "credit":
        purse.balance += amount;
        return () => (purse.balance -= amount);
      case "debit":
        if (availableOf(purse) < amount) return undefined;
        purse.balance -= amount;
        return () => (purse.balance += amount);
      case "hold":
        return hold(purse, amount);
      case "post":
      case "void":
        return endHold(purse, amount, change === "post");
      case "reopen":
        return setClosed(purse, false);
    }
  };
}

function violationOf(
  user: string,
  organisation: string,
  { gaveUp, before, stuck }: SearchResult<Purses> & { found: false },
): Violation {
  const message = gaveUp
    ? `user ${user}: the search for an order of the calls gave up`
    : `user ${user}: no order of the calls explains these answers`;
  const operations = [...before, ...stuck].flatMap(({ operation }) => operation ?? []);
  return { check: "wallets", organisation, message, operations };
}
