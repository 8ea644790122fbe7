import { won } from "@wonrail/kit/contract/money";
import type { Freeze } from "./accountTypes";
import {
  canPay,
  canReceive,
  openBook,
  orgAccountOf,
  post,
  record,
  requireRoom,
  walletOf,
  walletsOfUser,
  type Move,
} from "./book";
import { endOfHold } from "./holds";
import { ORGS, START_MS, chargeOf, openState, request, requestId, walletId } from "./testing/requests";
import type { Entry, Hold } from "./types";

const [orgId] = ORGS as [string];
const kim = walletId(orgId, "kim", "NORMAL");
const lee = walletId(orgId, "lee", "NORMAL");
const anyRequest = (number: number) => request(orgId, requestId(number), chargeOf(kim, 1n));

/** The book has a wallet of kim with 5 won; a hold reserves 2 of them. */
function bookOfKim() {
  const book = openBook(openState());
  Object.assign(walletOf(book, orgId, kim), { balanceWon: 5n, heldWon: 2n });
  return book;
}

test.each<[string, [string, bigint][], string]>([
  ["of a zero amount", [[kim, 0n]], "must move something"],
  [
    "that create money",
    [
      [kim, -1n],
      [lee, 2n],
    ],
    "sum to zero",
  ],
  ["without a line", [], "two postings or more"],
  [
    "of money that is held",
    [
      [kim, -4n],
      [lee, 4n],
    ],
    "below what it holds",
  ],
  [
    "whose second line takes held money",
    [
      [kim, -3n],
      [kim, -1n],
      [lee, 4n],
    ],
    "below what it holds",
  ],
])("moves %s are a programming error, and change no account", (_, amounts, message) => {
  const book = bookOfKim();
  const before = structuredClone([...book.accounts]);
  const moves = amounts.map(([id, amount]): Move => {
    return { account: walletOf(book, orgId, id), type: "TRANSFER", amountWon: won(amount) };
  });
  expect(() => post(book, anyRequest(1), moves)).toThrow(message);
  expect([...book.accounts]).toEqual(before);
});

test("an entry has its request, its place in the journal and each wallet's balance once", () => {
  const book = bookOfKim();
  const [account, issuance] = [walletOf(book, orgId, kim), orgAccountOf(book, orgId, "ORG_ISSUANCE")];
  const moves = [3n, 4n, -7n].map((amount, index): Move => {
    return { account: index < 2 ? account : issuance, type: "CHARGE", amountWon: won(amount) };
  });
  const notes = { relatedId: "pay_1", memo: "m", reference: "r", metadata: { till: "5" } };
  const entry = post(book, { ...anyRequest(7), ...notes }, moves);
  expect(entry).toMatchObject({
    ...{ kind: "charge", orgId, requestId: requestId(7), ...notes, postedAtMs: START_MS, orgSequence: 1n },
    balances: [{ accountId: kim, balanceWon: 12n, heldWon: 2n, sequence: 2n }],
  });
  expect(entry.postings.map(({ balanceAfterWon }) => balanceAfterWon)).toEqual([8n, 12n, -7n]);
  expect(record(book, anyRequest(8), [account])).toMatchObject({ orgSequence: 2n, postings: [] });
  expect(book.changes.heads).toEqual(new Map([[orgId, 2n]]));
  expect(book.changes.touched).toEqual(new Set([account, issuance]));
});

test("an organisation's account holds 64 bits, and refuses more at the amount", () => {
  expect(() => requireRoom(-(2n ** 63n))).not.toThrow();
  const fields = [{ path: "amount", message: "is more than the organisation's books hold" }];
  expect(() => requireRoom(2n ** 63n)).toThrow(
    expect.objectContaining({ code: "REQ_001", details: { fields } }),
  );
});

test("a new book has no changes", () => {
  const { changes } = openBook(openState());
  expect(Object.values(changes).flatMap((change: Iterable<unknown>) => [...change])).toEqual([]);
});

test("an unknown user has no wallets", () => {
  expect(walletsOfUser(bookOfKim(), orgId, "nobody")).toEqual([]);
});

test("the stricter one of the two freezes decides which movements a wallet takes part in", () => {
  const freezes: Freeze[] = ["NONE", "OUTGOING", "ALL"];
  const rights = freezes.map((frozenByChain) =>
    freezes.map((frozenByOperator) => {
      const account = { ...walletOf(bookOfKim(), orgId, kim), frozenByChain, frozenByOperator };
      return [canPay(account) && "pays", canReceive(account) && "receives"].filter(Boolean).join(" ");
    }),
  );
  expect(rights).toEqual([
    ["pays receives", "receives", ""],
    ["receives", "receives", ""],
    ["", "", ""],
  ]);
});

test("an account, an entry or a journal head that was not loaded is a programming error", () => {
  const book = openBook({ ...openState(), accounts: [], heads: new Map() });
  expect(() => orgAccountOf(book, orgId, "ORG_EXTERNAL")).toThrow("ORG_EXTERNAL account was not loaded");
  expect(() => record(book, anyRequest(1), [])).toThrow("journal head was not loaded");
  const hold = { orgId, requestId: requestId(1) } as Hold;
  expect(() => endOfHold(book, {} as Entry, hold)).toThrow("entry that placed the hold was not loaded");
});
