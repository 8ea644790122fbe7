import { idToUuid, newId } from "@wonrail/kit/contract/ids";
import { won } from "@wonrail/kit/contract/money";
import { sql } from "@wonrail/kit/db";
import { eventually, openTestDatabase } from "@wonrail/kit/testing";
import { orgAccountId } from "../store/accounts";
import { DAILY_LIMIT, codeOf, postTo, requestOf, soundLedger, testEngine } from "./testing/ledger";

const ledger = soundLedger();

test("a hold that another replica places after the first look is posted by a retry of the batch", async () => {
  const { database, orgId } = ledger;
  const walletId = await ledger.open("kim", "NORMAL", 1_000n);
  const place = requestOf(orgId, {
    ...{ kind: "placeHold", walletId, amountWon: won(400n) },
    ...{ dailyLimitWon: DAILY_LIMIT, toAddress: `0x${"a".repeat(40)}` },
  });
  const other = testEngine({ db: database.db });
  const owner = openTestDatabase(database.ownerUrl, "ledger");
  // The batch that posts the hold has looked for it, and waits for an account that is locked here.
  const external = idToUuid(orgAccountId(orgId, "ORG_EXTERNAL"));
  let posting: Promise<string> | undefined;
  await owner.dedicated(async (connection) => {
    await connection.run(sql`begin`);
    await connection.query(sql`select from accounts where id = ${external} for update`);
    const post = requestOf(orgId, { kind: "postHold", holdRequestId: place.requestId });
    posting = postTo(other, post).then(codeOf);
    await eventually(async () => {
      const waiting = await database.db.query(sql`
        select from pg_stat_activity where datname = current_database() and wait_event_type = 'Lock'`);
      expect(waiting).toHaveLength(1);
    });
    expect(codeOf(await postTo(ledger.engine, place))).toBe("posted");
    await connection.run(sql`commit`);
  });
  expect(await posting).toBe("posted");
  await other.close();
  await owner.close();
});

test("a hold that no replica places is refused, not retried for ever", async () => {
  const outcome = await ledger.post({ kind: "postHold", holdRequestId: newId("hld") });
  expect(codeOf(outcome)).toBe("TRF_005");
});
