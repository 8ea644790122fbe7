import { sql, tx } from "@wonrail/kit/db";
import { newId } from "@wonrail/kit/contract/ids";
import { MAX_WON } from "@wonrail/kit/contract/money";
import { IntentKind, TransactionType } from "@wonrail/proto/ledger/v1/intents";
import { HoldStatus } from "@wonrail/proto/ledger/v1/ledger";
import { freshDatabase } from "../../testing/database";
import { ingestEntries, ingestHold, ingestWallet } from "./ingest";

const WALLET = newId("wal");
const ORIGIN = { orgId: newId("org"), requestId: newId("req"), traceparent: "" };
/** Of a posting, what nobody asks about here. */
const REST = { type: TransactionType.UNSPECIFIED, balanceAfterWon: "0" };
const HOLD = {
  ...{ holdRequestId: newId("hld"), walletId: WALLET, sequence: 7n, status: HoldStatus.OPEN },
  ...{ toAddress: `0x${"5".repeat(40)}`, amountWon: "5" },
};
const holdEntry = (of: object, postedAt = new Date()) => ({
  ...{ entryId: newId("jrn"), requestId: HOLD.holdRequestId, relatedId: newId("trf"), orgSequence: 1n },
  ...{ kind: IntentKind.PLACE_HOLD, postedAt, metadata: {}, postings: [], balances: [] },
  result: { $case: "hold" as const, value: { ...HOLD, ...of } },
});
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
    await tx(database.db, (tx) => ingestEntries(tx, [{ origin: ORIGIN, entry }]));
    const row = await database.db.one(sql`
    select jsonb_array_length(steps) as steps, at_sequence, moves_to from operations join places using (org_id, ledger_ref)`);
    // It has its place all the same: what comes behind it waits for it.
    expect(row).toEqual({ steps, at_sequence: 1n, moves_to: 2n });
  },
);

test("a hold waits for all that was posted to its wallet before it, and its clock does not run", async () => {
  await tx(database.db, (tx) => ingestHold(tx, ORIGIN, holdEntry({}, new Date())));
  const row = await database.db.one(
    sql`select at_sequence, moves_to, expires_at from operations join places using (org_id, ledger_ref)`,
  );
  expect(row).toEqual({ at_sequence: 8n, moves_to: null, expires_at: null });
});

/** So custody, which refuses all that is asked for with it, never sees it: the bus makes a dead letter of it. */
describe("what has not its form is not taken in", () => {
  test.each([
    ["of nobody", { orgId: "" }, {}],
    ["out of no wallet", {}, { walletId: "wal_1" }],
    ["to no address", {}, { toAddress: "nowhere" }],
    [
      "to a mistyped address",
      {},
      { toAddress: "0x5aAeb6053F3E94C9b9A09f33669435E7Ef1BeAeD".replace("5aA", "5AA") },
    ],
    ["of nothing", {}, { amountWon: "0" }],
    ["of less than nothing", {}, { amountWon: "-5" }],
    ["of no number", {}, { amountWon: "0x5" }],
    ["of more than can be moved", {}, { amountWon: (MAX_WON + 1n).toString() }],
  ])("a hold %s", async (_what, origin, of) => {
    const taking = tx(database.db, (tx) => ingestHold(tx, { ...ORIGIN, ...origin }, holdEntry(of)));
    await expect(taking).rejects.toThrow(/ is not an? |^nothing of /);
    expect(await database.db.query(sql`select from operations`)).toEqual([]);
  });

  test.each([
    ["of nobody", "", WALLET, "5"],
    ["of a wallet that has no such id", ORIGIN.orgId, "wal_1", "5"],
    ["of no number", ORIGIN.orgId, WALLET, ""],
    ["of more than can be moved", ORIGIN.orgId, WALLET, (MAX_WON + 1n).toString()],
  ])("an entry %s", async (_what, orgId, accountId, amountWon) => {
    const postings = [{ accountId, amountWon, sequence: 1n, ...REST }];
    const entry = { requestId: newId("opn"), relatedId: "", kind: IntentKind.CHARGE, postings };
    const taking = tx(database.db, (tx) => ingestEntries(tx, [{ origin: { ...ORIGIN, orgId }, entry }]));
    await expect(taking).rejects.toThrow(/ is not an? |^nothing of /);
    expect(await database.db.query(sql`select from operations`)).toEqual([]);
  });

  test.each([
    ["of nobody", { orgId: "" }],
    ["that has no such id", { walletId: "wal_1" }],
    ["without an address", { address: "nowhere" }],
  ])("a wallet %s", async (_what, of) => {
    const wallet = { walletId: WALLET, orgId: ORIGIN.orgId, address: HOLD.toAddress, ...of };
    const taking = tx(database.db, (tx) => ingestWallet(tx, wallet));
    await expect(taking).rejects.toThrow(/ is not an? /);
    expect(await database.db.query(sql`select from wallet_addresses`)).toEqual([]);
  });
});
