import { parseWon } from "@wonrail/kit/contract/money";
import { EMPTY_BALANCE, visibleStatus } from "./wallet";

test("a wallet shows as active until it is deactivated", () => {
  expect((["OPENING", "ACTIVE", "DEACTIVATING", "DEACTIVATED"] as const).map(visibleStatus)).toEqual([
    ...["ACTIVE", "ACTIVE", "ACTIVE", "DEACTIVATED"],
  ]);
});

test("the balance of a wallet without an entry is read as 0", () => {
  const { balanceWon, availableWon } = EMPTY_BALANCE;
  expect([balanceWon, availableWon].map((text) => parseWon(text, "balance"))).toEqual([0n, 0n]);
});
