import { isRefusal } from "@wonrail/kit/contract/errors";
import { won } from "@wonrail/kit/contract/money";
import fc from "fast-check";
import { isOrgAccount } from "../domain/accountTypes";
import { type Intent } from "../domain/intents";
import {
  POSTINGS_PER_BLOCK,
  type Account,
  type LedgerRequest,
  type Outcome,
  type Posting,
} from "../domain/types";
import { isRetriedByCaller, decide, type Decision } from "./decide";
import type { State } from "../domain/book";
import { typesOf } from "../domain/typeBits";
import { Model } from "../domain/testing/model";
import {
  outcomesOf,
  chargeOf,
  inModelWords,
  openState,
  request,
  requestId,
  requestsFrom,
  stateAfter,
  walletId,
  ORGS,
} from "../domain/testing/requests";

const HOUR_MS = 3_600_000;

/** bin/plantBugs.mjs runs half as many and finds every planted bug. */
function runs(count: number): number {
  return Math.ceil(count * Number(process.env.LEDGER_TEST_SHARE ?? 1));
}
const sequences = fc.uint8Array({ minLength: 0, maxLength: 280, size: "max" });

/**
 * Decides in batches whose sizes and time gaps come from the bytes; the clock is constant within a
 * batch.
 */
function inBatches(
  requests: LedgerRequest[],
  cuts: Uint8Array,
  onBatch: (batch: LedgerRequest[], state: State, decision: Decision) => void,
) {
  let state = startOf(cuts);
  let at = 0;
  for (let turn = 0; at < requests.length; turn += 1) {
    const cut = cuts[turn % cuts.length] ?? 0;
    const batch = requests.slice(at, at + 1 + (cut % 9));
    at += batch.length;
    const decision = decide(state, batch);
    onBatch(batch, state, decision);
    state = stateAfter(decision, state.nowMs + (cut > 250 ? 31 * 24 : cut % 5) * HOUR_MS);
  }
  return state;
}

/** Sometimes all wallets are there, sometimes none is. */
function startOf(cuts: Uint8Array): State {
  return openState(cuts[0]! % 3 === 0 ? [] : undefined);
}

function openedModel(start: State): Model {
  const model = new Model();
  let number = 900;
  for (const { orgId, id, userId, type } of start.accounts) {
    if (userId === null || isOrgAccount(type)) continue;
    model.apply(
      request(orgId, requestId((number += 1) + 100_000), { kind: "openAccount", walletId: id, userId, type }),
      0,
    );
  }
  return model;
}

test("answers and balances equal a model without batches, for any batches", () => {
  fc.assert(
    fc.property(sequences, fc.uint8Array({ minLength: 1, maxLength: 20 }), (bytes, cuts) => {
      const model = openedModel(startOf(cuts));
      const end = inBatches(requestsFrom(bytes), cuts, (batch, state, decision) => {
        const outcomes = outcomesOf(decision);
        // One assertion per batch, because assertions cost more than the comparison.
        expect(batch.map((_, index) => inModelWords(outcomes[index]!))).toEqual(
          batch.map((each) => model.apply(each, state.nowMs)),
        );
      });
      const wallets = end.accounts.filter(({ id }) => model.wallets.has(id));
      expect(
        wallets.map(({ balanceWon, heldWon, closedAtMs }) => [balanceWon, heldWon, closedAtMs !== null]),
      ).toEqual(
        wallets.map(({ id }) => {
          const { balance, held, closed } = model.wallets.get(id)!;
          return [balance, held, closed];
        }),
      );
      expect(model.total()).toBe(0n);
    }),
    { numRuns: runs(2_000) },
  );
});

test("money is conserved, no wallet falls below its holds, and postings have no gap", () => {
  fc.assert(
    fc.property(sequences, fc.uint8Array({ minLength: 1, maxLength: 20 }), (bytes, cuts) => {
      const last = new Map<string, { sequence: bigint; balanceWon: bigint }>();
      const end = inBatches(requestsFrom(bytes), cuts, (_batch, _state, { changes, book }) => {
        const entries = changes.answered.flatMap(({ answer: { outcome } }) =>
          outcome.status === "posted" ? [outcome.entry] : [],
        );
        expect(
          entries.filter(
            ({ postings }) =>
              sum(postings.map((posting) => posting.amountWon)) !== 0n || postings.length === 1,
          ),
        ).toEqual([]);
        expect(
          entries.flatMap(({ postings }) => postings.filter((posting) => !follows(last, posting))),
        ).toEqual([]);
        expect([...book.accounts.values()].filter(isUnsound)).toEqual([]);
      });
      const open = [...end.holds.values()].filter(({ state }) => state === "open");
      expect(sum(end.accounts.map(({ balanceWon }) => balanceWon))).toBe(0n);
      expect(sum(end.accounts.map(({ heldWon }) => heldWon))).toBe(
        sum(open.map(({ amountWon }) => amountWon)),
      );
    }),
    { numRuns: runs(1_200) },
  );
});

function follows(last: Map<string, { sequence: bigint; balanceWon: bigint }>, posting: Posting): boolean {
  const before = last.get(posting.accountId) ?? { sequence: 0n, balanceWon: 0n };
  last.set(posting.accountId, { sequence: posting.sequence, balanceWon: posting.balanceAfterWon });
  return (
    posting.sequence === before.sequence + 1n &&
    posting.balanceAfterWon === before.balanceWon + posting.amountWon
  );
}

function isUnsound({ type, balanceWon, heldWon, limitUsedWon }: Account): boolean {
  return (!isOrgAccount(type) && (balanceWon < heldWon || heldWon < 0n)) || limitUsedWon < 0n;
}

function sum(amounts: bigint[]): bigint {
  return amounts.reduce((total, amount) => total + amount, 0n);
}

test("a replay returns the first answer and changes nothing, in the same batch and in later ones", () => {
  fc.assert(
    fc.property(sequences, (bytes) => {
      const requests = requestsFrom(bytes).filter(isNoRepeatedDeposit());
      const first = decide(openState(), requests);
      const answered = requests.map((request, index) => ({
        request,
        outcome: first.answers[index]!.outcome,
      }));
      const kept = answered.filter((one) => !isForNow(one));
      const replayed = kept.map(({ request }) => request);
      const again = decide(stateAfter(first, openState().nowMs + 40 * 24 * HOUR_MS), [
        ...replayed,
        ...replayed,
      ]);
      const outcomes = kept.map(({ outcome }) => outcome);
      expect(outcomesOf(again)).toEqual([...outcomes, ...outcomes]);
      expect(again.changes.answered).toEqual([]);
      expect(again.changes.touched.size).toBe(0);
      expect([...again.book.accounts]).toEqual([...first.book.accounts]);
    }),
    { numRuns: runs(400) },
  );
});

/** Refusals that are not stored, because the caller retries. */
function isForNow({ request, outcome }: { request: LedgerRequest; outcome: Outcome }): boolean {
  return isRetriedByCaller(request.intent.kind) && outcome.status === "refused";
}

/**
 * A repeated log under another id is answered from the log, and that id is not stored: it may be
 * used for another request.
 */
function isNoRepeatedDeposit(): (request: LedgerRequest) => boolean {
  const logs = new Set<string>();
  return ({ orgId, intent }) => {
    if (intent.kind !== "creditExternal") return true;
    const log = `${orgId} ${intent.chainLogId}`;
    const fresh = !logs.has(log);
    logs.add(log);
    return fresh;
  };
}

test("the given state is not modified", () => {
  fc.assert(
    fc.property(sequences, (bytes) => {
      const state = openState();
      decide(state, requestsFrom(bytes));
      expect(state).toEqual(openState());
    }),
    { numRuns: runs(200) },
  );
});

test("the parts of a cancelled charge never exceed the charge", () => {
  const wallet = walletId(ORGS[0]!, "kim", "NORMAL");
  fc.assert(
    fc.property(
      fc.bigInt(1n, 1_000n),
      fc.array(fc.option(fc.bigInt(1n, 600n)), { maxLength: 12 }),
      (amount, parts) => {
        const charge = request(ORGS[0]!, requestId(1), chargeOf(wallet, amount));
        const other = request(ORGS[0]!, requestId(2), chargeOf(wallet, 5_000n));
        const cancels = parts.map((part, index) =>
          request(ORGS[0]!, requestId(10 + index), {
            kind: "cancelCharge",
            chargeRequestId: requestId(1),
            amountWon: part as never,
          }),
        );
        const outcomes = outcomesOf(decide(openState(), [charge, other, ...cancels]));
        let cancelled = 0n;
        for (const outcome of outcomes.slice(2)) {
          if (outcome.status === "refused") {
            expect(outcome.code).toBe(cancelled === amount ? "CHG_003" : "CHG_005");
            continue;
          }
          cancelled -= outcome.entry.postings[0]!.amountWon;
          expect(outcome.entry.chargeCancelled).toEqual({
            cancelledWon: cancelled,
            remainingWon: amount - cancelled,
          });
        }
        expect(cancelled <= amount).toBe(true);
      },
    ),
    { numRuns: runs(400) },
  );
});

test("each full block of 128 postings is recorded with its types", () => {
  const wallet = walletId(ORGS[0]!, "kim", "NORMAL");
  const requests = Array.from({ length: 300 }, (_, index) =>
    request(
      ORGS[0]!,
      requestId(index),
      index === 200 ? { kind: "refund", walletId: wallet } : chargeOf(wallet, 10n),
    ),
  );
  const { changes, book } = decide(openState(), requests);
  const account = book.accounts.get(wallet)!;
  const blocks = changes.typeBlocks.filter(({ accountNumber }) => accountNumber === account.number);
  expect(blocks.map(({ sequence, types }) => [sequence, typesOf(types)])).toEqual([
    [POSTINGS_PER_BLOCK, ["CHARGE"]],
    [2n * POSTINGS_PER_BLOCK, ["CHARGE", "REFUND"]],
  ]);
  expect(typesOf(account.blockTypes)).toEqual(["CHARGE"]);
});

test("the end of a hold names the hold and the entry that placed it", () => {
  const wallet = walletId(ORGS[0]!, "kim", "NORMAL");
  const amountWon = won(300n);
  const intents: Intent[] = [
    chargeOf(wallet, 900n),
    { kind: "placeHold", walletId: wallet, amountWon, dailyLimitWon: amountWon, toAddress: "0x" },
    { kind: "postHold", holdRequestId: requestId(1) },
  ];
  const requests = intents.map((intent, index) => request(ORGS[0]!, requestId(index), intent));
  const [, placed, ended] = outcomesOf(decide(openState(), requests));
  const facts = { walletId: wallet, toAddress: "0x", amountWon, holdRequestId: requestId(1), sequence: 1n };
  expect(placed).toMatchObject({ entry: { hold: { ...facts, state: "open" } } });
  expect(ended).toMatchObject({
    entry: { hold: { ...facts, state: "posted" }, original: { requestId: requestId(1) } },
  });
});

test("a programming error fails the batch instead of becoming a refusal", () => {
  const state = { ...openState(), newNumbers: [] };
  const open = request(ORGS[0]!, requestId(1), {
    kind: "openAccount",
    walletId: walletId(ORGS[0]!, "new", "NORMAL"),
    userId: "new",
    type: "NORMAL",
  });
  expect(() => decide(state, [open])).toThrow(/assertion failed/);
  try {
    decide(state, [open]);
  } catch (error) {
    expect(isRefusal(error)).toBe(false);
  }
});

test("another organisation's wallet counts as absent, although the batch has locked it", () => {
  const [orgId, otherOrgId] = ORGS as [string, string];
  const [own, other] = [walletId(orgId, "kim", "NORMAL"), walletId(otherOrgId, "lee", "NORMAL")];
  const [amountWon, dailyLimitWon] = [won(1n), won(1_000n)];
  const toAddress = `0x${"a".repeat(40)}`;
  const charge = (walletId: string): Intent => chargeOf(walletId, 100n);
  const asked: Intent[] = [
    charge(other),
    { kind: "refund", walletId: other },
    { kind: "transfer", fromWalletId: other, toWalletId: own, toAddress, amountWon, dailyLimitWon },
    { kind: "transfer", fromWalletId: own, toWalletId: other, toAddress, amountWon, dailyLimitWon },
    { ...paymentFrom(other), receiverWalletId: own },
    { ...paymentFrom(own), receiverWalletId: other },
    { kind: "placeHold", walletId: other, amountWon, dailyLimitWon, toAddress: "0x" },
    { kind: "creditExternal", walletId: other, amountWon, chainLogId: "log" },
    { kind: "closeAccount", walletId: other },
    { kind: "reopenAccount", walletId: other },
    { kind: "freezeAccount", walletId: other, freeze: "ALL", reason: "", source: "CHAIN" },
  ];
  const requests = [
    request(orgId, requestId(1), charge(own)),
    request(otherOrgId, requestId(1), charge(other)),
    ...asked.map((intent, index) => request(orgId, requestId(index + 2), intent)),
  ];
  const outcomes = outcomesOf(decide(openState(), requests));
  expect(outcomes.slice(2)).toEqual(
    asked.map(() => ({ status: "refused", code: "WAL_002", details: { walletId: other } })),
  );
});

function paymentFrom(payerWalletId: string) {
  return {
    kind: "payment",
    payerWalletId,
    amountWon: won(1n),
    incentiveAmountWon: null,
    accrualRateBps: 0,
  } as const;
}
