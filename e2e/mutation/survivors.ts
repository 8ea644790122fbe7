import { type Mutant } from "./mutants";

interface Rule extends Partial<
  Pick<Mutant, "file" | "mutator" | "original" | "replacement" | "isAssertionText">
> {
  reason: string;
}

const auth = "services/auth/src/domain";
const feed = "services/events/src/feed/domain";
const ledger = "services/ledger/src/domain";

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
];

export function reasonFor(mutant: Mutant): string | undefined {
  const names = ["file", "mutator", "original", "replacement", "isAssertionText"] as const;
  return RULES.find((rule) => names.every((name) => rule[name] === undefined || rule[name] === mutant[name]))
    ?.reason;
}
