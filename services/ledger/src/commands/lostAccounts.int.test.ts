import { chargeOf } from "../domain/testing/requests";
import { idToUuid, newId } from "@wonrail/kit/contract/ids";
import { sql } from "@wonrail/kit/db";
import { openTestDatabase } from "@wonrail/kit/testing";
import { orgAccountId } from "../store/accounts";
import { balancesOf, codeOf, soundLedger } from "./testing/ledger";

// A standby takes over without the last commits, while the ledger keeps its cache of accounts.

const ledger = soundLedger();

test("a charge to a lost account is refused, and the account with its number receives nothing", async () => {
  const lost = await ledger.open("lost");
  expect(codeOf(await charge(lost))).toBe("posted");
  const owner = openTestDatabase(ledger.database.ownerUrl, "ledger");
  const other = newId("wal");
  await owner.run(sql`update accounts set id = ${idToUuid(other)} where id = ${idToUuid(lost)}`);
  const kept = await ledger.open("kept");
  const [toLost, toKept] = await Promise.all([charge(lost), charge(kept)]);
  expect([codeOf(toLost), codeOf(toKept)]).toEqual(["WAL_002", "posted"]);
  expect(await balancesOf(ledger, [other, kept])).toEqual([10n, 10n]);
  await owner.run(sql`update accounts set id = ${idToUuid(lost)} where id = ${idToUuid(other)}`);
  await owner.close();
});

test("a retry of the batch recreates a lost account of an organisation", async () => {
  const walletId = await ledger.open("issued");
  await charge(walletId);
  const owner = openTestDatabase(ledger.database.ownerUrl, "ledger");
  const issuance = idToUuid(orgAccountId(ledger.orgId, "ORG_ISSUANCE"));
  await owner.run(sql`update accounts set id = ${idToUuid(newId("acc"))} where id = ${issuance}`);
  await owner.close();
  expect(codeOf(await charge(walletId))).toBe("posted");
  expect(await balancesOf(ledger, [walletId])).toEqual([20n]);
});

function charge(walletId: string) {
  return ledger.post(chargeOf(walletId, 10n));
}
