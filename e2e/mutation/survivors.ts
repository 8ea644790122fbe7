import { type Mutant } from "./mutants";

interface Rule extends Partial<
  Pick<Mutant, "file" | "mutator" | "original" | "replacement" | "isAssertionText">
> {
  reason: string;
}

const auth = "services/auth/src/domain";
const feed = "services/events/src/feed/domain";
const ledger = "services/ledger/src/domain";
const relayer = "services/chain-relayer/src";

/** Why no test kills these mutants. The first rule whose fields all fit gives the reason. */
const RULES: Rule[] = [
  {
    isAssertionText: true,
    reason: "the text of a programming error, which no caller sees",
  },
  {
    original: "default: return false;",
    reason: "equivalent: without it the function returns undefined, which counts as false",
  },
  {
    file: `${auth}/plans.ts`,
    original: 'case "MONEY_OPERATIONS": return rules.moneyOperations;',
    reason: "equivalent: each plan has the same limit of recorded transactions",
  },
  {
    file: `${auth}/quotas.ts`,
    original: "wanted <= 0",
    replacement: "wanted < 0",
    reason: "equivalent: the smallest value is then the wanted 0",
  },
  {
    file: `${auth}/throttle.ts`,
    replacement: '["Stryker was here"]',
    reason: "equivalent: a text has no failures, so it adds no wait",
  },
  {
    file: `${feed}/settlements.ts`,
    original: 'typeof ownId === "string"',
    reason: "equivalent: an undefined name is never looked up",
  },
  {
    file: `${feed}/settlements.ts`,
    replacement: '["Stryker was here"]',
    reason: "equivalent: a text has no id, and an undefined name is never looked up",
  },
  {
    file: `${feed}/journal.ts`,
    original: "ledgerRef === undefined",
    reason: "equivalent: the pattern does not match the word undefined",
  },
  {
    file: `${ledger}/book.ts`,
    replacement: "sum -= amountWon",
    reason: "equivalent: the sum is compared with 0 only",
  },
  {
    file: `${ledger}/paymentMoves.ts`,
    replacement: "amountWon >= 0n",
    reason: "equivalent: no posting moves 0",
  },
  {
    file: `${relayer}/records/domain/record.ts`,
    original: "default: return never(run);",
    reason: "equivalent: a record that is done is not pending, so its run is not asked for",
  },
  {
    file: `${relayer}/records/domain/record.ts`,
    original: '"DONE"',
    reason: "equivalent: a record that is done is not pending, so its run is not asked for",
  },
  {
    file: `${relayer}/records/domain/record.ts`,
    original: '""',
    reason: "equivalent: neither text has the form of a hash",
  },
  {
    file: `${relayer}/restore/domain/obstacles.ts`,
    replacement: "true",
    reason: "equivalent: both are null before the first comparison, and null is not later than a time",
  },
  {
    file: `${relayer}/sender/domain/fees.ts`,
    replacement: "needed < most",
    reason: "equivalent: both offers are the same amount then",
  },
  {
    file: `${relayer}/settlement/domain/findEndings.ts`,
    original: "waitReason === null",
    reason: "equivalent: null is no dead end",
  },
  {
    file: `${relayer}/settlement/domain/selectFittingMints.ts`,
    replacement: "one <= other",
    reason: "equivalent: either of two equal demands may come first",
  },
  {
    file: `${relayer}/settlement/domain/selectFundedOperations.ts`,
    original: "toWalletId !== null",
    reason: "equivalent: no step spends the money of no wallet",
  },
  {
    file: `${relayer}/settlement/domain/steps.ts`,
    replacement: "net <= 0n",
    reason: "equivalent: a wallet whose sum is 0 moves nothing",
  },
  {
    file: `${relayer}/settlement/domain/steps.ts`,
    replacement: "net >= 0n",
    reason: "equivalent: a wallet whose sum is 0 moves nothing",
  },
  {
    file: `${relayer}/settlement/domain/steps.ts`,
    replacement: "line.accountId <= best.accountId",
    reason: "equivalent: no two lines have the same account and sequence",
  },
  {
    file: `${relayer}/x402/domain/payment.ts`,
    replacement: '["Stryker was here"]',
    reason: "equivalent: the second element is undefined in both",
  },
];

export function reasonFor(mutant: Mutant): string | undefined {
  const names = ["file", "mutator", "original", "replacement", "isAssertionText"] as const;
  return RULES.find((rule) => names.every((name) => rule[name] === undefined || rule[name] === mutant[name]))
    ?.reason;
}
