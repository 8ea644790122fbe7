import { rawSql } from "@wonrail/kit/db";
import { newId } from "@wonrail/kit/contract/ids";
import { won } from "@wonrail/kit/contract/money";
import { openTestDatabase } from "@wonrail/kit/testing";
import { codeOf, startTestLedger, type TestLedger } from "../commands/testing/ledger";
import { addOldMonths, detachOldestMonth } from "../commands/testing/oldMonths";
import { findRequest } from "./findRequest";

const DAY_MS = 24 * 3_600_000;
let ledger: TestLedger;

beforeEach(async () => {
  ledger = await startTestLedger();
});
afterEach(() => ledger.close());

const placeOf = (requestId: string, orgId = ledger.orgId) =>
  findRequest(ledger.database.db, orgId, requestId);

test("says of a request whether it was decided, also under another prefix, or may still be", async () => {
  const [posted, refused] = [newId("chg"), newId("rfd")];
  const walletId = await ledger.open();
  await ledger.post({ kind: "charge", walletId, amountWon: won(1_000n) }, { requestId: posted });
  const none = await ledger.post({ kind: "refund", walletId: newId("wal") }, { requestId: refused });
  expect(codeOf(none)).toBe("WAL_002");
  expect(await placeOf(posted)).toBe("JOURNAL");
  expect(await placeOf(posted.replace("chg", "trf"))).toBe("JOURNAL");
  expect(await placeOf(refused)).toBe("JOURNAL");
  expect(await placeOf(posted, newId("org"))).toBe("OPEN");
  expect(await placeOf(newId("chg"))).toBe("OPEN");
  // Its month will come.
  expect(await placeOf(newId("chg", Date.now() + 400 * DAY_MS))).toBe("OPEN");
});

test("says of a request whose month has left whether it went with it, while the month's table is there", async () => {
  const { ownerUrl } = ledger.database;
  const oldMs = (await addOldMonths(ownerUrl)) + DAY_MS;
  const [posted, never] = [newId("chg", oldMs), newId("chg", oldMs)];
  const walletId = await ledger.open();
  await ledger.post({ kind: "charge", walletId, amountWon: won(1_000n) }, { requestId: posted });
  expect([await placeOf(posted), await placeOf(never)]).toEqual(["JOURNAL", "OPEN"]);
  const month = await detachOldestMonth(ownerUrl);
  expect([await placeOf(posted), await placeOf(never)]).toEqual(["ARCHIVE", "NOWHERE"]);
  expect(await placeOf(posted, newId("org"))).toBe("NOWHERE");

  const owner = openTestDatabase(ownerUrl, "ledger");
  await owner.run(rawSql(`alter table entries_${month} rename to archived`));
  await owner.close();
  expect([await placeOf(posted), await placeOf(never)]).toEqual(["UNKNOWN", "UNKNOWN"]);
  expect(await placeOf(newId("chg", 0))).toBe("UNKNOWN");
});
