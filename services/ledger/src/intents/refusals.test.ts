import { derivedId } from "@wonrail/kit/contract/ids";
import { MAX_WON, won } from "@wonrail/kit/contract/money";
import { decide } from "./decide";
import {
  ORGS,
  START_MS,
  openState,
  outcomesOf,
  request,
  requestId,
  stateAfter,
  walletId,
} from "../domain/testing/requests";
import { chargeOf } from "../domain/testing/requests";
import type { Freeze, FreezeSource } from "../domain/accountTypes";
import type { Intent } from "../domain/intents";
import type { Outcome } from "../domain/types";

const [orgId] = ORGS as [string];
const kim = {
  normal: walletId(orgId, "kim", "NORMAL"),
  incentive: walletId(orgId, "kim", "INCENTIVE"),
  government: walletId(orgId, "kim", "GOVERNMENT"),
};
const lee = { normal: walletId(orgId, "lee", "NORMAL"), incentive: walletId(orgId, "lee", "INCENTIVE") };
const OWN_ACCOUNT = derivedId("acc", orgId, "ORG_ISSUANCE");
const LIMIT = won(1_000_000n);
const HOUR_MS = 3_600_000;

/** Decides intents in order; a number is a pause in hours. */
function play(...steps: (Intent | number)[]): Outcome[] {
  const outcomes: Outcome[] = [];
  let state = openState();
  for (const step of steps) {
    if (typeof step === "number") {
      state = { ...state, nowMs: state.nowMs + step * HOUR_MS };
      continue;
    }
    const decision = decide(state, [request(orgId, requestId(outcomes.length + 1), step)]);
    outcomes.push(...outcomesOf(decision));
    state = stateAfter(decision, state.nowMs);
  }
  return outcomes;
}

function lastOf(...steps: (Intent | number)[]): string | { code: string; details: unknown } {
  const last = play(...steps).at(-1)!;
  return last.status === "posted" ? "posted" : { code: last.code, details: last.details };
}

const freeze = (wallet: string, kind: Freeze, source: FreezeSource = "CHAIN"): Intent => ({
  kind: "freezeAccount",
  walletId: wallet,
  freeze: kind,
  reason: "blocked on chain",
  source,
});
const transfer = (from: string, to: string, amount = 1n): Intent => ({
  kind: "transfer",
  fromWalletId: from,
  toWalletId: to,
  toAddress: `0x${"a".repeat(40)}`,
  amountWon: won(amount),
  dailyLimitWon: LIMIT,
});
const hold = (wallet: string, amount = 1n): Intent => ({
  kind: "placeHold",
  walletId: wallet,
  amountWon: won(amount),
  dailyLimitWon: LIMIT,
  toAddress: `0x${"a".repeat(40)}`,
});
const pay = (
  payer: string,
  receiver: string,
  amount = 100n,
  incentiveAmount: bigint | null = null,
): Intent => ({
  kind: "payment",
  payerWalletId: payer,
  receiverWalletId: receiver,
  amountWon: won(amount),
  incentiveAmountWon: incentiveAmount === null ? null : won(incentiveAmount),
  accrualRateBps: 0,
});
const refund = (wallet: string): Intent => ({ kind: "refund", walletId: wallet });
const charge = (amount: bigint, limit: bigint): Intent => ({
  ...chargeOf(kim.normal, amount),
  dailyLimitWon: won(limit),
});

describe("a frozen wallet", () => {
  const rich = [chargeOf(kim.normal, 1_000n), chargeOf(lee.normal, 1_000n)];
  const cancel: Intent = { kind: "cancelCharge", chargeRequestId: requestId(1), amountWon: won(1n) };

  test.each<[string, Intent]>([
    ["a transfer", transfer(kim.normal, lee.normal)],
    ["a hold", hold(kim.normal)],
    ["a payment", pay(kim.normal, lee.normal)],
    ["a refund", refund(kim.normal)],
    ["a cancellation of its charge", cancel],
  ])("refuses %s out of it, frozen either way", (_what, intent) => {
    for (const kind of ["OUTGOING", "ALL"] as const)
      expect(lastOf(...rich, freeze(kim.normal, kind), intent)).toEqual({
        code: "WAL_005",
        details: { walletId: kim.normal, freeze: kind },
      });
    expect(lastOf(...rich, freeze(kim.normal, "ALL"), freeze(kim.normal, "NONE"), intent)).toBe("posted");
  });

  test.each<[string, Intent]>([
    ["a charge", chargeOf(kim.normal, 1n)],
    ["a transfer", transfer(lee.normal, kim.normal)],
    ["a payment", pay(lee.normal, kim.normal)],
  ])("refuses %s into it only when all movements are frozen", (_what, intent) => {
    expect(lastOf(...rich, freeze(kim.normal, "OUTGOING"), intent)).toBe("posted");
    expect(lastOf(...rich, freeze(kim.normal, "ALL"), intent)).toMatchObject({ code: "WAL_005" });
  });

  test("stays frozen by an operator when the chain's freeze ends, and the other way round", () => {
    const [intent, both] = [transfer(kim.normal, lee.normal), freeze(kim.normal, "OUTGOING", "OPERATOR")];
    const frozen = [...rich, both, freeze(kim.normal, "ALL", "CHAIN")];
    const refused = (kind: Freeze) => ({ code: "WAL_005", details: { walletId: kim.normal, freeze: kind } });
    expect(lastOf(...frozen, intent)).toEqual(refused("ALL"));
    const lifted = [...frozen, freeze(kim.normal, "NONE", "CHAIN")];
    expect(lastOf(...lifted, intent)).toEqual(refused("OUTGOING"));
    expect(lastOf(...frozen, freeze(kim.normal, "NONE", "OPERATOR"), intent)).toEqual(refused("ALL"));
    expect(lastOf(...lifted, freeze(kim.normal, "NONE", "OPERATOR"), intent)).toBe("posted");
  });

  test("still credits deposits and ends holds", () => {
    const deposit: Intent = {
      kind: "creditExternal",
      walletId: kim.normal,
      amountWon: won(5n),
      chainLogId: "log",
    };
    const end: Intent = { kind: "postHold", holdRequestId: requestId(3) };
    const steps = [...rich, hold(kim.normal), freeze(kim.normal, "ALL")];
    expect(lastOf(...steps, deposit)).toBe("posted");
    expect(lastOf(...steps, end)).toBe("posted");
  });

  test("pays no part of another wallet's payment", () => {
    const steps = [...rich, chargeOf(kim.incentive, 100n), freeze(kim.incentive, "OUTGOING")];
    const paid = play(...steps, pay(kim.normal, lee.normal)).at(-1)!;
    expect(paid).toMatchObject({
      entry: { postings: [{ accountId: kim.normal }, { accountId: lee.normal }] },
    });
  });
});

describe("the daily charge limit of an organisation", () => {
  test("counts charges of all wallets, to the last won", () => {
    const other = { ...chargeOf(lee.normal, 400n), dailyLimitWon: won(1_000n) };
    expect(lastOf(charge(600n, 1_000n), other)).toBe("posted");
    expect(lastOf(charge(600n, 1_000n), other, charge(1n, 1_000n))).toEqual({
      code: "CHG_008",
      details: { reason: "daily_limit", dailyLimit: 1_000, usedToday: 1_000 },
    });
  });

  test("is one limit, and the limit of a single charge another", () => {
    const single = (amount: bigint) => ({ ...charge(amount, 1_000n), maxChargeWon: won(100n) });
    expect(lastOf(single(100n))).toBe("posted");
    const details = { reason: "max_charge", maxCharge: 100 };
    expect(lastOf(single(101n))).toEqual({ code: "CHG_008", details });
  });

  test("gets a cancelled amount back on the same day, and not on a later day", () => {
    const cancel: Intent = { kind: "cancelCharge", chargeRequestId: requestId(1), amountWon: won(300n) };
    expect(lastOf(charge(1_000n, 1_000n), cancel, charge(300n, 1_000n))).toBe("posted");
    expect(lastOf(charge(1_000n, 1_000n), cancel, charge(301n, 1_000n))).toMatchObject({ code: "CHG_008" });
    const later = [charge(1_000n, 1_000n), 24, charge(1_000n, 1_000n), cancel, charge(1n, 1_000n)];
    expect(lastOf(...later)).toMatchObject({ code: "CHG_008" });
  });

  test("restarts at midnight in Seoul", () => {
    const untilMidnight = 24 - ((START_MS / HOUR_MS + 9) % 24);
    expect(lastOf(charge(1_000n, 1_000n), untilMidnight, charge(1_000n, 1_000n))).toBe("posted");
    expect(lastOf(charge(1_000n, 1_000n), untilMidnight - 1, charge(1n, 1_000n))).toMatchObject({
      code: "CHG_008",
    });
  });
});

test("a GOVERNMENT wallet is refunded, and an INCENTIVE wallet is not", () => {
  expect(lastOf(chargeOf(kim.government, 5n), refund(kim.government))).toBe("posted");
  expect(lastOf(chargeOf(kim.incentive, 5n), refund(kim.incentive))).toEqual({
    code: "CHG_007",
    details: { reason: "wallet_type" },
  });
  expect(lastOf(refund(kim.normal))).toEqual({ code: "CHG_007", details: { reason: "nothing_to_refund" } });
});

test("a refusal for lack of money names the available and the required amount", () => {
  const available = { available: 900, required: 901 };
  const held = [chargeOf(kim.normal, 1_000n), hold(kim.normal, 100n)];
  expect(lastOf(...held, transfer(kim.normal, lee.normal, 901n))).toEqual({
    code: "TRF_001",
    details: available,
  });
  expect(lastOf(...held, hold(kim.normal, 901n))).toEqual({ code: "TRF_001", details: available });
  expect(lastOf(...held, pay(kim.normal, lee.normal, 901n))).toEqual({ code: "PAY_001", details: available });
  const more = [...held, chargeOf(kim.incentive, 50n)];
  expect(lastOf(...more, pay(kim.normal, lee.normal, 951n))).toEqual({
    code: "PAY_001",
    details: { available: 950, required: 951 },
  });
  expect(lastOf(...more, pay(kim.normal, lee.normal, 951n, 20n))).toEqual({
    code: "PAY_001",
    details: { available: 920, required: 951 },
  });
  const spent = [chargeOf(kim.normal, 100n), pay(kim.normal, lee.normal), refund(lee.normal)];
  expect(lastOf(...spent, { kind: "cancelPayment", paymentRequestId: requestId(2) })).toEqual({
    code: "PAY_001",
    details: { available: 0, required: 100 },
  });
});

test.each<[string, Intent[], object]>([
  [
    "the organisation's own account is no wallet",
    [chargeOf(OWN_ACCOUNT, 1n)],
    { code: "WAL_002", details: { walletId: OWN_ACCOUNT } },
  ],
  [
    "a closed wallet is named",
    [{ kind: "closeAccount", walletId: kim.normal }, hold(kim.normal)],
    { code: "WAL_004", details: { walletId: kim.normal } },
  ],
  [
    "an INCENTIVE wallet sends no transfer",
    [chargeOf(kim.incentive, 1n), transfer(kim.incentive, lee.normal)],
    { code: "TRF_004", details: { walletId: kim.incentive } },
  ],
  [
    "the limit of transfers is named with its used part",
    [chargeOf(kim.normal, 3n * LIMIT), transfer(kim.normal, lee.normal, LIMIT), hold(kim.normal)],
    { code: "TRF_003", details: { dailyLimit: 1_000_000, usedToday: 1_000_000 } },
  ],
  [
    "an absent hold has no end",
    [{ kind: "postHold", holdRequestId: requestId(9) }],
    { code: "TRF_005", details: null },
  ],
  [
    "an ended hold states its end",
    [
      chargeOf(kim.normal, 1n),
      hold(kim.normal),
      { kind: "postHold", holdRequestId: requestId(2) },
      { kind: "voidHold", holdRequestId: requestId(2) },
    ],
    { code: "TX_003", details: { state: "posted" } },
  ],
  [
    "a charge is no payment that can be cancelled",
    [chargeOf(kim.normal, 1n), { kind: "cancelPayment", paymentRequestId: requestId(1) }],
    { code: "PAY_004", details: null },
  ],
  [
    "a cancelled payment is named",
    [
      chargeOf(kim.normal, 100n),
      pay(kim.normal, lee.normal),
      { kind: "cancelPayment", paymentRequestId: requestId(2) },
      { kind: "cancelPayment", paymentRequestId: requestId(2) },
    ],
    { code: "PAY_003", details: { paymentId: requestId(2) } },
  ],
])("%s", (_, intents, refused) => {
  expect(lastOf(...intents)).toEqual(refused);
});

test("a refused payment states its reason", () => {
  const rich = [chargeOf(kim.normal, 1_000n), chargeOf(kim.incentive, 50n)];
  const reasonOf = (intent: Intent) =>
    (lastOf(...rich, intent) as { details: { reason: string } }).details.reason;
  expect(reasonOf(pay(kim.normal, lee.incentive))).toBe("wallet_type");
  expect(reasonOf(pay(kim.incentive, kim.normal))).toBe("same_user");
  expect(reasonOf(pay(kim.normal, lee.normal, 100n, 51n))).toBe("over_balance");
  expect(reasonOf(pay(kim.normal, lee.normal, 10n, 11n))).toBe("over_amount");
});

test("no limit admits a charge of the largest amount", () => {
  expect(lastOf(chargeOf(kim.normal, MAX_WON))).toBe("posted");
});

test("an INCENTIVE wallet that is frozen for outgoing movements still receives accruals", () => {
  const rich = [chargeOf(kim.normal, 1_000n), freeze(kim.incentive, "OUTGOING")];
  const accruing = { ...pay(kim.normal, lee.normal), accrualRateBps: 1_000 } as Intent;
  const paid = play(...rich, accruing).at(-1)!;
  expect(paid).toMatchObject({
    entry: { postings: [{}, {}, { amountWon: -10n }, { accountId: kim.incentive }] },
  });
  const frozen = play(chargeOf(kim.normal, 1_000n), freeze(kim.incentive, "ALL"), accruing).at(-1)!;
  expect(frozen.status === "posted" && frozen.entry.postings).toHaveLength(2);
});
