import { sql, tx } from "@wonrail/kit/db";
import { newId } from "@wonrail/kit/ids";
import { won } from "@wonrail/kit/money";
import { IntentKind, TransactionType } from "@wonrail/proto/ledger/v1/intents";
import { freshDatabase } from "./testing/database";
import { takeInEntries, takeInHold } from "./takeIn";

const WALLET = newId("wal");
const ORIGIN = { orgId: newId("org"), requestId: newId("req"), traceparent: "" };
/** Of a posting, what nobody asks about here. */
const REST = { type: TransactionType.UNSPECIFIED, balanceAfterWon: "0" };
const database = freshDatabase();

test.each([
  [IntentKind.CHARGE, 1],
  [IntentKind.CREDIT_EXTERNAL, 0],
  [IntentKind.POST_HOLD, 0],
])(
  "an entry of %s has %p steps, since what is on the chain already is not done again",
  async (kind, steps) => {
    const line = { accountId: WALLET, amountWon: "-5", sequence: 1n };
    const other = { accountId: "external", amountWon: "5", sequence: 1n };
    const postings = [line, other].map((posting) => ({ ...posting, ...REST }));
    const entry = { requestId: newId("opn"), relatedId: "", kind, postings };
    await tx(database.db, (tx) => takeInEntries(tx, [{ origin: ORIGIN, entry }]));
    const row = await database.db.one(sql`
    select jsonb_array_length(steps) as steps, at_sequence, moves_to from operations join places using (org_id, ledger_ref)`);
    // It has its place all the same: what comes behind it waits for it.
    expect(row).toEqual({ steps, at_sequence: 1n, moves_to: 2n });
  },
);

test("a hold waits for all that was posted to its wallet before it, and ends when its time is over", async () => {
  const placedAt = new Date("2026-03-01T00:00:00Z");
  const hold = { holdRequestId: newId("hld"), relatedId: newId("trf"), walletId: WALLET, sequence: 7n };
  const of = { toAddress: `0x${"5".repeat(40)}`, amountWon: won(5n).toString(), placedAt };
  await tx(database.db, (tx) => takeInHold(tx, ORIGIN, { ...hold, ...of }, 60_000));
  const row = await database.db.one(
    sql`select at_sequence, moves_to, expires_at from operations join places using (org_id, ledger_ref)`,
  );
  const expiresAt = new Date("2026-03-01T00:01:00Z");
  expect(row).toEqual({ at_sequence: 8n, moves_to: null, expires_at: expiresAt });
});
