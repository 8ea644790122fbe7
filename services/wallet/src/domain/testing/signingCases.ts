import { type Won, won } from "@wonrail/kit/contract/money";
import type * as signingPolicy from "../signingPolicy";

/** The rules under test, as they are or with a bug in them. */
export type Policy = Pick<typeof signingPolicy, "refusalOf" | "isRepeat" | "spendVelocity">;

export interface SigningCase {
  name: string;
  ask: (policy: Policy) => unknown;
  answer: unknown;
}

const NOW_MS = 1_800_000_000_000;
const TOKEN = "0x5FbDB2315678afecb367f032d93F642f64180aa3";
const PAYEE = "0x70997970c51812dc3a010c7d01b50e0d17dc79c8";

const intent: signingPolicy.SigningIntent = {
  orgId: "org_a",
  ledgerRef: "trf_1",
  fromWalletId: "wal_a",
  kind: "TRANSFER",
  toAddress: PAYEE,
  amountWon: won(1000n),
  nonce: "01".repeat(32),
  validBeforeMs: NOW_MS + 600_000,
  chainId: 31337n,
  tokenAddress: TOKEN,
};

const operation: signingPolicy.LedgerOperation = {
  outflow: new Map([["wal_a", won(1000n)]]),
  payable: new Map([[PAYEE, won(1000n)]]),
  burnable: won(0n),
  origin: null,
};

const facts: signingPolicy.SigningFacts = {
  chainId: 31337n,
  tokenAddress: TOKEN,
  nowMs: NOW_MS,
  horizonMs: 3_600_000,
  walletKnown: true,
  operation,
  earlier: undefined,
  otherLegsWon: won(0n),
  otherPayersWon: won(0n),
};

const burn = { kind: "BURN", toAddress: "" } as const;
const burnable = { operation: { ...operation, burnable: won(1000n) } };
const SAME = { ...intent };
const OTHER = { ...SAME, nonce: "02".repeat(32) };

type Rule = [
  string,
  Partial<signingPolicy.SigningIntent>,
  Partial<signingPolicy.SigningFacts>,
  string | null,
];

const RULES: Rule[] = [
  ["signs what the ledger says is to be paid", {}, {}, null],
  [
    "signs for a token and a payee in whatever letters",
    { tokenAddress: TOKEN.toUpperCase(), toAddress: PAYEE.toUpperCase() },
    {},
    null,
  ],
  ["is configured with a token in whatever letters", {}, { tokenAddress: TOKEN.toLowerCase() }, null],
  ["signs a part of it", { amountWon: won(1n) }, {}, null],
  ["signs the rest of it", { amountWon: won(400n) }, { otherLegsWon: won(600n) }, null],
  [
    "signs the rest of what the payee is to have",
    { amountWon: won(400n) },
    { otherPayersWon: won(600n) },
    null,
  ],
  ["signs a burn of what goes back", burn, burnable, null],
  ["signs up to the horizon", { validBeforeMs: NOW_MS + 3_600_000 }, {}, null],
  ["signs for the next moment", { validBeforeMs: NOW_MS + 1 }, {}, null],
  ["refuses another chain", { chainId: 1n }, {}, "wrong_chain"],
  ["refuses another token", { tokenAddress: PAYEE }, {}, "wrong_token"],
  ["refuses a wallet of nobody or of another organisation", {}, { walletKnown: false }, "unknown_wallet"],
  ["refuses an operation that the ledger does not know", {}, { operation: undefined }, "unknown_operation"],
  ["refuses one KRW more than the ledger says", { amountWon: won(1001n) }, {}, "not_in_operation"],
  ["refuses another payee", { toAddress: TOKEN }, {}, "not_in_operation"],
  ["refuses another payee one KRW", { toAddress: TOKEN, amountWon: won(1n) }, {}, "not_in_operation"],
  [
    "refuses more than the payee is to have",
    {},
    { operation: { ...operation, payable: new Map([[PAYEE, won(999n)]]) } },
    "not_in_operation",
  ],
  [
    "refuses a leg that with the others is more than what leaves the wallet",
    {},
    { otherLegsWon: won(1n) },
    "not_in_operation",
  ],
  [
    "refuses a leg that with those of other payers is more than the payee is to have",
    {},
    { otherPayersWon: won(1n) },
    "not_in_operation",
  ],
  [
    "refuses a burn that with those of other payers is more than what goes back",
    burn,
    { ...burnable, otherPayersWon: won(1n) },
    "not_in_operation",
  ],
  ["refuses another payer", { fromWalletId: "wal_b" }, {}, "not_in_operation"],
  ["refuses another payer one KRW", { fromWalletId: "wal_b", amountWon: won(1n) }, {}, "not_in_operation"],
  ["refuses a burn of what was paid to somebody", burn, {}, "not_in_operation"],
  ["refuses a burn under the name of a payee", { kind: "BURN" }, {}, "not_in_operation"],
  ["refuses to pay what is to be burned", { toAddress: TOKEN }, burnable, "not_in_operation"],
  ["refuses an end beyond the horizon", { validBeforeMs: NOW_MS + 3_600_001 }, {}, "horizon"],
  ["refuses an end that has passed", { validBeforeMs: NOW_MS }, {}, "expired"],
  ["signs the same nonce again, also with a later end", {}, { earlier: SAME }, null],
  [
    "refuses the same nonce for another amount",
    {},
    { earlier: { ...SAME, amountWon: won(999n) } },
    "signed_otherwise",
  ],
  ["refuses a second nonce for ever", {}, { earlier: OTHER }, "signed_otherwise"],
];

const LIMITS = { walletWon: won(100n), organisationWon: won(150n), globalWon: won(200n) };

type Wish = [orgId: string, fromWalletId: string, amount: bigint];

/** The grants in order, and the amounts used at the end. */
function spend(policy: Policy, ...wishes: Wish[]): unknown {
  return spendWithin(policy, LIMITS, ...wishes);
}

function spendWithin(policy: Policy, limits: signingPolicy.VelocityLimits, ...wishes: Wish[]): unknown {
  const used = new Map<string, Won>();
  const refusals = wishes.map(([orgId, fromWalletId, amount]) =>
    policy.spendVelocity(used, { orgId, fromWalletId, amountWon: won(amount) }, limits),
  );
  return { refusals, used: Object.fromEntries(used) };
}

export const signingCases: SigningCase[] = [
  ...RULES.map(([name, change, known, answer]) => ({
    name,
    ask: ({ refusalOf }: Policy) => refusalOf({ ...intent, ...change }, { ...facts, ...known }),
    answer,
  })),
  { name: "the first is no repeat", ask: ({ isRepeat }) => isRepeat(intent, undefined), answer: false },
  {
    name: "the same nonce and amount is a repeat",
    ask: ({ isRepeat }) => isRepeat(intent, SAME),
    answer: true,
  },
  { name: "another nonce is no repeat", ask: ({ isRepeat }) => isRepeat(intent, OTHER), answer: false },
  {
    name: "a wallet's limit is spent to the last KRW, and a refusal spends nothing",
    ask: (policy) => spend(policy, ["a", "w", 100n], ["a", "w", 1n]),
    answer: { refusals: [null, "over_wallet_limit"], used: { "wallet/w": 100n, "org/a": 100n, all: 100n } },
  },
  {
    name: "an organisation's limit holds for all its wallets together",
    ask: (policy) => spend(policy, ["a", "w", 100n], ["a", "v", 51n], ["a", "v", 50n]),
    answer: {
      refusals: [null, "over_organisation_limit", null],
      used: { "wallet/w": 100n, "wallet/v": 50n, "org/a": 150n, all: 150n },
    },
  },
  {
    name: "the limit of all holds for all organisations together",
    ask: (policy) => spend(policy, ["a", "w", 100n], ["b", "v", 100n], ["c", "u", 1n]),
    answer: {
      refusals: [null, null, "over_global_limit"],
      used: { "wallet/w": 100n, "wallet/v": 100n, "org/a": 100n, "org/b": 100n, all: 200n },
    },
  },
  {
    name: "a leg that alone is above the wallet's limit is told apart, and what is left of the hour goes to others",
    ask: (policy) => spend(policy, ["a", "w", 101n], ["a", "w", 1n], ["a", "w", 101n], ["a", "w", 99n]),
    answer: {
      refusals: ["leg_over_limit", null, "leg_over_limit", null],
      used: { "wallet/w": 100n, "org/a": 100n, all: 100n },
    },
  },
  {
    name: "so is one that alone is above the organisation's limit, or that of all",
    ask: (policy) =>
      (["walletWon", "organisationWon", "globalWon"] as const).map((low) => {
        const limits = { walletWon: won(9n), organisationWon: won(9n), globalWon: won(9n), [low]: won(5n) };
        return spendWithin(policy, limits, ["a", "w", 6n], ["a", "w", 5n]);
      }),
    answer: Array(3).fill({
      refusals: ["leg_over_limit", null],
      used: { "wallet/w": 5n, "org/a": 5n, all: 5n },
    }),
  },
  {
    name: "it passes once the limit is raised",
    ask: (policy) => spendWithin(policy, { ...LIMITS, walletWon: won(101n) }, ["a", "w", 101n]),
    answer: { refusals: [null], used: { "wallet/w": 101n, "org/a": 101n, all: 101n } },
  },
  {
    name: "a limit of 0 stops all within it, however small",
    ask: (policy) => [
      spendWithin(policy, { ...LIMITS, walletWon: won(0n) }, ["a", "w", 1n]),
      spendWithin(policy, { ...LIMITS, organisationWon: won(0n) }, ["a", "w", 1n]),
      spendWithin(policy, { ...LIMITS, globalWon: won(0n) }, ["a", "w", 1n]),
    ],
    answer: ["over_wallet_limit", "over_organisation_limit", "over_global_limit"].map((reason) => ({
      refusals: [reason],
      used: {},
    })),
  },
];
