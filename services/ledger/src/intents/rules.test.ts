import { MAX_WON, won } from "@wonrail/kit/contract/money";
import { decide } from "./decide";
import { seoulDay } from "../domain/limits";
import { paymentCancelled, paymentMade } from "../domain/results";
import {
  outcomesOf,
  chargeOf,
  ORGS,
  START_MS,
  openState,
  request,
  requestId,
  stateAfter,
  walletId,
} from "../domain/testing/requests";
import type { Intent } from "../domain/intents";
import type { Outcome } from "../domain/types";

const [orgId] = ORGS as [string];
const kim = { normal: walletId(orgId, "kim", "NORMAL"), incentive: walletId(orgId, "kim", "INCENTIVE") };
const lee = { normal: walletId(orgId, "lee", "NORMAL"), incentive: walletId(orgId, "lee", "INCENTIVE") };
const LIMIT = won(1_000n);
const HOUR_MS = 3_600_000;

/** Decides intents in order, at once or with hours between them. Returns each outcome. */
function play(steps: (Intent | { hoursLater: number })[], startMs = START_MS): Outcome[] {
  const outcomes: Outcome[] = [];
  let state = { ...openState(), nowMs: startMs };
  let number = 0;
  for (const step of steps) {
    if ("hoursLater" in step) {
      state = { ...state, nowMs: state.nowMs + step.hoursLater * HOUR_MS };
      continue;
    }
    const decision = decide(state, [request(orgId, requestId((number += 1)), step)]);
    outcomes.push(decision.answers[0]!.outcome);
    state = stateAfter(decision, state.nowMs);
  }
  return outcomes;
}

function codes(outcomes: Outcome[]): string[] {
  return outcomes.map((outcome) => (outcome.status === "posted" ? "posted" : outcome.code));
}

const charge = (wallet: string, amount: bigint): Intent => chargeOf(wallet, amount);
const transfer = (amount: bigint): Intent => ({
  kind: "transfer",
  fromWalletId: kim.normal,
  toWalletId: lee.normal,
  toAddress: `0x${"a".repeat(40)}`,
  amountWon: won(amount),
  dailyLimitWon: LIMIT,
});
const hold = (amount: bigint): Intent => ({
  kind: "placeHold",
  walletId: kim.normal,
  amountWon: won(amount),
  dailyLimitWon: LIMIT,
  toAddress: "0x",
});
const deposit = (wallet: string): Intent => ({
  kind: "creditExternal",
  walletId: wallet,
  amountWon: won(5n),
  chainLogId: "log",
});
const payment = (amount: bigint, incentiveAmountWon: bigint | null, accrualRateBps: number): Intent => ({
  kind: "payment",
  payerWalletId: kim.normal,
  receiverWalletId: lee.normal,
  amountWon: won(amount),
  incentiveAmountWon: incentiveAmountWon === null ? null : won(incentiveAmountWon),
  accrualRateBps,
});

describe("the waterfall", () => {
  test.each<[string, bigint | null, [bigint, bigint] | string]>([
    ["absent: the whole INCENTIVE balance", null, [300n, 700n]],
    ["0: none", 0n, [0n, 1_000n]],
    ["a number: exactly that", 299n, [299n, 701n]],
    ["more than the INCENTIVE balance", 301n, "PAY_006"],
    ["more than the amount", 1_001n, "PAY_006"],
  ])("incentiveAmount %s", (_what, incentiveAmount, expected) => {
    const [, , paid] = play([
      charge(kim.normal, 5_000n),
      charge(kim.incentive, 300n),
      payment(1_000n, incentiveAmount, 0),
    ]);
    if (typeof expected === "string") return expect(codes([paid!])).toEqual([expected]);
    expect(paid!.status === "posted" && paymentMade(paid!.entry.postings)).toEqual({
      governmentWon: 0n,
      incentiveWon: expected[0],
      normalWon: expected[1],
      incentiveAccruedWon: 0n,
    });
  });

  test("leaves GOVERNMENT money untouched", () => {
    const government = walletId(orgId, "kim", "GOVERNMENT");
    expect(codes(play([charge(government, 5_000n), payment(1_000n, null, 0)]))).toEqual([
      "posted",
      "PAY_001",
    ]);
  });

  test("spends no money that an outside transfer holds", () => {
    expect(codes(play([charge(kim.normal, 1_000n), hold(1n), payment(1_000n, null, 0)]))).toEqual([
      "posted",
      "posted",
      "PAY_001",
    ]);
  });
});

describe("the accrual", () => {
  test.each([
    [1_000n, 150, 15n],
    [999n, 100, 9n],
    [99n, 100, 0n],
    [1_000n, 10_000, 1_000n],
  ])("of %d at %d basis points is rounded down to %d", (amount, rate, accrued) => {
    const [, paid] = play([charge(kim.normal, 5_000n), payment(amount, null, rate)]);
    expect(paid!.status === "posted" && paymentMade(paid!.entry.postings).incentiveAccruedWon).toBe(accrued);
  });

  test("applies to the NORMAL part only", () => {
    const [, , paid] = play([
      charge(kim.normal, 5_000n),
      charge(kim.incentive, 600n),
      payment(1_000n, null, 1_000),
    ]);
    expect(paid!.status === "posted" && paymentMade(paid!.entry.postings).incentiveAccruedWon).toBe(40n);
  });

  test("is 0 when the INCENTIVE wallet is closed", () => {
    const close: Intent = { kind: "closeAccount", walletId: kim.incentive };
    const [, , paid] = play([close, charge(kim.normal, 5_000n), payment(1_000n, null, 1_000)]);
    expect(paid!.status === "posted" && paid!.entry.postings.length).toBe(2);
  });
});

describe("a cancelled payment", () => {
  const cancel: Intent = { kind: "cancelPayment", paymentRequestId: requestId(3) };

  test("restores every wallet exactly and claws the accrual back", () => {
    const outcomes = play([
      charge(kim.normal, 5_000n),
      charge(kim.incentive, 300n),
      payment(1_000n, null, 1_000),
      cancel,
    ]);
    const cancelled = outcomes[3]!;
    expect(cancelled.status === "posted" && paymentCancelled(cancelled.entry.postings)).toEqual({
      restoredGovernmentWon: 0n,
      restoredIncentiveWon: 300n,
      restoredNormalWon: 700n,
      incentiveClawedBackWon: 70n,
      keptFromNormalWon: 0n,
    });
    expect(cancelled).toMatchObject({
      entry: {
        balances: [
          { accountId: lee.normal, balanceWon: 0n },
          { accountId: kim.incentive, balanceWon: 300n },
          { accountId: kim.normal, balanceWon: 5_000n },
        ],
        original: { requestId: requestId(3) },
      },
    });
  });

  test("keeps the accrual that the INCENTIVE wallet no longer holds from the NORMAL part", () => {
    const spend: Intent = {
      ...payment(60n, 60n, 0),
      receiverWalletId: walletId(orgId, "park", "NORMAL"),
    } as Intent;
    const outcomes = play([
      charge(kim.normal, 5_000n),
      charge(lee.normal, 1n),
      payment(1_000n, null, 1_000),
      spend,
      cancel,
    ]);
    const cancelled = outcomes[4]!;
    expect(cancelled.status === "posted" && paymentCancelled(cancelled.entry.postings)).toMatchObject({
      restoredNormalWon: 940n,
      incentiveClawedBackWon: 40n,
      keptFromNormalWon: 60n,
    });
  });

  test("leaves earlier deposits in a closed INCENTIVE wallet", () => {
    const close: Intent = { kind: "closeAccount", walletId: kim.incentive };
    const spend = { ...payment(70n, 70n, 0), receiverWalletId: walletId(orgId, "park", "NORMAL") } as Intent;
    const paid = [charge(kim.normal, 5_000n), charge(lee.normal, 1n), payment(700n, 0n, 1_000)];
    const cancelled = play([...paid, spend, close, deposit(kim.incentive), cancel]).at(-1)!;
    expect(cancelled.status === "posted" && paymentCancelled(cancelled.entry.postings)).toMatchObject({
      incentiveClawedBackWon: 0n,
      keptFromNormalWon: 70n,
    });
  });

  test("requires that the receiver still has the money, and happens once", () => {
    const refund: Intent = { kind: "refund", walletId: lee.normal };
    const paid = [charge(kim.normal, 5_000n), charge(kim.incentive, 1n), payment(1_000n, 0n, 0)];
    expect(codes(play([...paid, refund, cancel]))).toEqual([
      "posted",
      "posted",
      "posted",
      "posted",
      "PAY_001",
    ]);
    expect(codes(play([...paid, cancel, cancel])).slice(3)).toEqual(["posted", "PAY_003"]);
  });
});

describe("the daily limit", () => {
  test("counts transfers and holds of one day of Asia/Seoul together, to the last won", () => {
    expect(
      codes(play([charge(kim.normal, 9_000n), transfer(400n), hold(600n), transfer(1n), hold(1n)])),
    ).toEqual(["posted", "posted", "posted", "TRF_003", "TRF_003"]);
  });

  test("restarts at midnight in Seoul, which is 15:00 UTC", () => {
    const beforeMidnight = Date.UTC(2026, 10, 20, 14, 59);
    expect(
      codes(
        play(
          [charge(kim.normal, 9_000n), transfer(1_000n), transfer(1n), { hoursLater: 1 }, transfer(1_000n)],
          beforeMidnight,
        ),
      ),
    ).toEqual(["posted", "posted", "TRF_003", "posted"]);
    expect(seoulDay(beforeMidnight + HOUR_MS) - seoulDay(beforeMidnight)).toBe(1);
  });

  test("does not restart when a clock is set back over midnight", () => {
    const afterMidnight = Date.UTC(2026, 10, 20, 15, 1);
    const steps = [charge(kim.normal, 9_000n), transfer(1_000n), { hoursLater: -1 }, transfer(1n), hold(1n)];
    const later = [{ hoursLater: 1 }, transfer(1n), { hoursLater: 24 }, transfer(1_000n)];
    expect(codes(play([...steps, ...later], afterMidnight))).toEqual([
      "posted",
      "posted",
      "TRF_003",
      "TRF_003",
      "TRF_003",
      "posted",
    ]);
  });

  test("does not grow when a hold is released that a clock days ahead made the day forget", () => {
    const release: Intent = { kind: "voidHold", holdRequestId: requestId(2) };
    const ahead = [{ hoursLater: 48 }, transfer(1n), { hoursLater: -48 }, transfer(1n)];
    const after = [release, transfer(1_000n), transfer(1n)];
    expect(codes(play([charge(kim.normal, 9_000n), hold(900n), ...ahead, ...after]))).toEqual([
      ...Array<string>(6).fill("posted"),
      "TRF_003",
    ]);
  });

  test("returns a voided hold's amount on its own day only", () => {
    const release: Intent = { kind: "voidHold", holdRequestId: requestId(2) };
    expect(codes(play([charge(kim.normal, 9_000n), hold(1_000n), release, transfer(1_000n)]))).toEqual(
      Array(4).fill("posted"),
    );
    const later = play([
      charge(kim.normal, 9_000n),
      hold(1_000n),
      { hoursLater: 24 },
      transfer(1_000n),
      release,
      transfer(1n),
    ]);
    expect(codes(later)).toEqual(["posted", "posted", "posted", "posted", "TRF_003"]);
  });
});

test("a charge can be cancelled for 30 times 24 hours", () => {
  const cancel: Intent = { kind: "cancelCharge", chargeRequestId: requestId(1), amountWon: won(1n) };
  expect(codes(play([charge(kim.normal, 9_000n), { hoursLater: 30 * 24 }, cancel]))).toEqual([
    "posted",
    "posted",
  ]);
  expect(codes(play([charge(kim.normal, 9_000n), { hoursLater: 30 * 24 + 1 }, cancel]))).toEqual([
    "posted",
    "CHG_004",
  ]);
});

test("a deposit in a closed INCENTIVE wallet pays nothing", () => {
  const close: Intent = { kind: "closeAccount", walletId: kim.incentive };
  const [, , , paid] = play([
    close,
    deposit(kim.incentive),
    charge(kim.normal, 1_000n),
    payment(1_000n, null, 0),
  ]);
  const drawn = paid!.status === "posted" ? paid!.entry.postings.map(({ amountWon }) => amountWon) : [];
  expect(drawn).toEqual([-1_000n, 1_000n]);
});

test("a closed wallet refuses every movement except a deposit at its address", () => {
  const close: Intent = { kind: "closeAccount", walletId: kim.normal };
  const refund: Intent = { kind: "refund", walletId: kim.normal };
  expect(
    codes(
      play([close, charge(kim.normal, 1_000n), transfer(1n), hold(1n), refund, close, deposit(kim.normal)]),
    ),
  ).toEqual(["posted", ...Array<string>(5).fill("WAL_004"), "posted"]);
});

test("a deposit in a closed wallet can leave after a reopening, and the wallet closes again", () => {
  const walletId = kim.normal;
  const close: Intent = { kind: "closeAccount", walletId };
  const reopen: Intent = { kind: "reopenAccount", walletId };
  const refund: Intent = { kind: "refund", walletId };
  expect(codes(play([close, deposit(walletId), refund, reopen, close, refund, close, refund]))).toEqual([
    ...["posted", "posted", "WAL_004", "posted", "WAL_003", "posted", "posted", "WAL_004"],
  ]);
});

test("a hold that cannot be posted stays open and can be voided", () => {
  const state = openState();
  const external = state.accounts.find(
    (account) => account.orgId === orgId && account.type === "ORG_EXTERNAL",
  )!;
  external.balanceWon = won(2n ** 63n - 600n);
  const asked = [charge(kim.normal, 2_000n), hold(600n)];
  const holdRequestId = requestId(2);
  const ends: Intent[] = [
    { kind: "postHold", holdRequestId },
    { kind: "voidHold", holdRequestId },
  ];
  const outcomes = outcomesOf(
    decide(
      state,
      [...asked, ...ends].map((intent, index) => request(orgId, requestId(index + 1), intent)),
    ),
  );
  expect(codes(outcomes)).toEqual(["posted", "posted", "REQ_001", "posted"]);
});

test("an ended hold releases nothing of another one", () => {
  const ends = (["postHold", "voidHold"] as const).map((kind): Intent => ({
    kind,
    holdRequestId: requestId(2),
  }));
  for (const end of ends) {
    const outcomes = play([charge(kim.normal, 900n), hold(300n), hold(300n), end, ...ends]);
    expect(codes(outcomes).slice(3)).toEqual(["posted", "TX_003", "TX_003"]);
  }
});

test("opening an open wallet changes nothing, and reopening an absent one is refused", () => {
  const open: Intent = { kind: "reopenAccount", walletId: kim.normal };
  const [first, , other] = play([open, charge(kim.normal, 1_000n), { ...open, walletId: "wal_none" }]);
  expect(first).toMatchObject({
    entry: { postings: [], balances: [{ accountId: kim.normal, balanceWon: 0n }] },
  });
  expect(other).toMatchObject({ code: "WAL_002" });
});

test("an amount beyond the organisation account's limit is refused, and the next request is posted", () => {
  const state = openState();
  const issuance = state.accounts.find(
    (account) => account.orgId === orgId && account.type === "ORG_ISSUANCE",
  )!;
  issuance.balanceWon = won(-(2n ** 63n) + 1_000n);
  const asked = [charge(kim.normal, 1_001n), charge(kim.normal, 1_000n), charge(lee.normal, 1n)];
  const outcomes = outcomesOf(
    decide(
      state,
      asked.map((intent, index) => request(orgId, requestId(index + 1), intent)),
    ),
  );
  expect(codes(outcomes)).toEqual(["REQ_001", "posted", "REQ_001"]);
});

test("a charge or a cancellation beyond the largest balance is refused with the wallet's id", () => {
  const refused = play([
    charge(kim.normal, 1_000n),
    payment(1_000n, 0n, 0),
    charge(kim.normal, MAX_WON),
    charge(kim.normal, 1n),
    { kind: "cancelPayment", paymentRequestId: requestId(2) },
  ]).slice(-2);
  const message = `would bring the wallet ${kim.normal} above ${MAX_WON}`;
  const at = (path: string) => ({ code: "REQ_001", details: { fields: [{ path, message }] } });
  expect(refused).toMatchObject([at("amount"), at("paymentId")]);
});

test("a transfer to oneself is refused at its destination field", () => {
  const [, refused] = play([
    charge(kim.normal, 1_000n),
    { ...transfer(1n), toWalletId: kim.normal } as Intent,
  ]);
  const fields = [{ path: "toWalletAddress", message: "must not be the wallet's own address" }];
  expect(refused).toMatchObject({ code: "TRF_002", details: { fields } });
});
