import { chargeOf } from "../domain/testing/requests";
import { newId } from "@wonrail/kit/contract/ids";
import { won } from "@wonrail/kit/contract/money";
import { balancesOf, codeOf, startTestLedger, type TestLedger } from "./testing/ledger";
import { addOldMonths, detachOldestMonth } from "./testing/oldMonths";

let ledger: TestLedger;

beforeAll(async () => {
  ledger = await startTestLedger();
});
afterAll(() => ledger.close());

test("a log is refused, not credited again, when its credit's month was detached", async () => {
  const { database } = ledger;
  const walletId = await ledger.open();
  const credit = { kind: "creditExternal", walletId, amountWon: won(700n), chainLogId: "log" } as const;
  const fromMs = await addOldMonths(database.ownerUrl);
  await ledger.post(credit, { requestId: newId("opn", fromMs + 24 * 3_600_000) });
  await detachOldestMonth(database.ownerUrl);
  const [again, beside] = await Promise.all([ledger.post(credit), ledger.post(chargeOf(walletId, 1_000n))]);
  expect([again, beside].map(codeOf)).toEqual(["REQ_003", "posted"]);
  expect(await balancesOf(ledger, [walletId])).toEqual([1_700n]);
});
