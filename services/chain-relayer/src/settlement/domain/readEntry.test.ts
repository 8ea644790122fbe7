import { newId } from "@wonrail/kit/contract/ids";
import { IntentKind } from "@wonrail/proto/ledger/v1/intents";
import { Entry } from "@wonrail/proto/ledger/v1/ledger";
import { readEntry, unreadable, walletLinesOf } from "./readEntry";
import { operationIdOf, operationIdOfHold } from "./steps";

const OUTSIDE = "0x70997970C51812dc3A010C7d01b50e0d17dc79C8";
const [payer, payee] = [newId("wal"), newId("wal")];
const place = { requestId: "trf_1", relatedId: "trf_0", orgSequence: 7n, postedAt: new Date(1_000) };
const names = { ledgerRef: "trf_1", relatedId: "trf_0", orgSequence: 7n, postedAt: new Date(1_000) };

const line = (accountId: string, amountWon: string, sequence: bigint) => ({ accountId, amountWon, sequence });

function entry(kind: IntentKind, ...postings: ReturnType<typeof line>[]): Entry {
  return Entry.fromPartial({ ...place, kind, postings });
}

function hold(of: object = {}): Entry {
  const value = { holdRequestId: "trf_1", walletId: payer, toAddress: OUTSIDE, amountWon: "700", ...of };
  return Entry.fromPartial({ ...place, kind: IntentKind.PLACE_HOLD, result: { $case: "hold", value } });
}

const transfer = entry(IntentKind.TRANSFER, line(payer, "-300", 4n), line(payee, "300", 9n));

test("an entry is read as the steps between its wallets, under a name from its lines", () => {
  expect(readEntry(transfer)).toMatchObject({
    ...names,
    kind: IntentKind.TRANSFER,
    operationId: operationIdOf([
      { accountId: payer, amountWon: -300n as never, sequence: 4n },
      { accountId: payee, amountWon: 300n as never, sequence: 9n },
    ]),
    steps: [{ kind: "TRANSFER", fromWalletId: payer, toWalletId: payee, amountWon: 300n }],
    wallets: [payer, payee],
  });
});

test("an entry names each of its wallets once, and no account of the organisation", () => {
  const charge = entry(
    IntentKind.CHARGE,
    line("acc_1", "-5", 1n),
    line(payee, "3", 1n),
    line(payee, "2", 2n),
  );
  expect(readEntry(charge)).toMatchObject({
    wallets: [payee],
    steps: [{ kind: "MINT", toWalletId: payee, amountWon: 5n }],
  });
});

test.each([IntentKind.CREDIT_EXTERNAL, IntentKind.POST_HOLD])(
  "money that the chain has moved before needs no step (%#)",
  (kind) => {
    const read = readEntry(entry(kind, line("acc_1", "-5", 1n), line(payee, "5", 1n)));
    expect(read).toMatchObject({ ...names, steps: [], wallets: [payee] });
  },
);

test("an entry without lines moves nothing", () => {
  expect(readEntry(entry(IntentKind.OPEN_ACCOUNT))).toBeNull();
});

test("a hold is a step to its outside address", () => {
  expect(readEntry(hold())).toMatchObject({
    ...names,
    operationId: operationIdOfHold("trf_1"),
    steps: [{ kind: "TRANSFER", fromWalletId: payer, toWalletId: null, toAddress: OUTSIDE, amountWon: 700n }],
    wallets: [payer],
  });
});

test.each<[string, Entry]>([
  ["a hold without its result", entry(IntentKind.PLACE_HOLD)],
  ["a hold of nothing", hold({ amountWon: "0" })],
  ["a hold of a negative amount", hold({ amountWon: "-1" })],
  ["a hold to no address", hold({ toAddress: "0x1" })],
  ["a hold of no wallet", hold({ walletId: "wal_1" })],
  ["a line of a malformed wallet", entry(IntentKind.TRANSFER, line("wal_1", "1", 1n))],
  ["a line without an amount", entry(IntentKind.TRANSFER, line(payer, "1.5", 1n))],
  ["a line beyond every amount", entry(IntentKind.CHARGE, line(payer, "9999999999999999", 1n))],
])("%s is refused", (_, malformed) => {
  expect(() => readEntry(malformed)).toThrow(/has no hold|is settled|is not/);
});

test("an unreadable entry still holds up its wallets", () => {
  const broken = entry(
    IntentKind.TRANSFER,
    line(payer, "x", 1n),
    line(payer, "y", 2n),
    line("acc_1", "", 1n),
  );
  const empty = { ...names, operationId: "", steps: [] };
  expect(unreadable(broken)).toMatchObject({ ...empty, wallets: [payer] });
  expect(unreadable(hold({ amountWon: "x" }))).toMatchObject({ ...empty, wallets: [payer] });
  expect(unreadable(entry(IntentKind.OPEN_ACCOUNT))).toMatchObject({ ...empty, wallets: [] });
});

test("the newest line of each wallet counts, and malformed lines do not", () => {
  const later = entry(
    IntentKind.TRANSFER,
    line(payer, "-1", 6n),
    line(payee, "1", 8n),
    line("acc_1", "0", 99n),
  );
  expect(walletLinesOf([transfer, later, entry(IntentKind.TRANSFER, line("wal_x", "0", 0n))])).toEqual([
    { walletId: payer, sequence: 6n },
    { walletId: payee, sequence: 9n },
  ]);
});
