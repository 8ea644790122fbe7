import { newId } from "@wonrail/kit/contract/ids";
import { MAX_WON, won } from "@wonrail/kit/contract/money";
import { assertAmount, readAccount, readOrganisation, readSignedAmount, readWallet } from "./entryFields";

const ADDRESS = "0x70997970C51812dc3A010C7d01b50e0d17dc79C8";

test("well-formed fields are read unchanged", () => {
  const [orgId, walletId] = [newId("org"), newId("wal")];
  expect([readOrganisation(orgId), readWallet(walletId), readAccount(ADDRESS)]).toEqual([
    ...[orgId, walletId, ADDRESS],
  ]);
});

test.each([
  ["0", 0n],
  ["-1", -1n],
  ["9007199254740991", 9_007_199_254_740_991n],
])("the amount %s is read", (text, amount) => {
  expect(readSignedAmount(text)).toBe(amount);
});

test.each(["", "-", "1.5", "1e3", "+1", " 1", "1 ", "x1", "12345678901234567"])(
  "the amount %j is refused",
  (text) => {
    expect(() => readSignedAmount(text)).toThrow(`${JSON.stringify(text)} is not an amount`);
  },
);

test("an id of another kind is refused, and the message shows its first hundred characters", () => {
  const walletId = newId("wal");
  expect(() => readOrganisation(walletId)).toThrow(`"${walletId}" is not an organisation's id`);
  expect(() => readWallet(newId("org"))).toThrow("is not a wallet's id");
  expect(() => readAccount("x".repeat(101))).toThrow(`"${"x".repeat(100)}" is not an address`);
});

test("amounts from 1 to the largest one are settled", () => {
  expect([assertAmount(won(1n)), assertAmount(MAX_WON)]).toEqual([1n, MAX_WON]);
  for (const amount of [0n, -1n, MAX_WON + 1n])
    expect(() => assertAmount(amount as never)).toThrow(`nothing of ${amount} KRW is settled`);
});
