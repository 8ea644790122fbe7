import { chargeOf } from "../domain/testing/requests";
import { rawSql } from "@wonrail/kit/db";
import { openTestDatabase } from "@wonrail/kit/testing";
import { newId } from "@wonrail/kit/contract/ids";
import { won } from "@wonrail/kit/contract/money";
import { runAdmin } from "../admin";
import {
  DAILY_LIMIT,
  postTo,
  requestOf,
  startTestLedger,
  transferOf,
  type TestLedger,
} from "../commands/testing/ledger";

let ledger: TestLedger;

beforeEach(async () => {
  ledger = await startTestLedger();
  const from = await ledger.open("kim", "NORMAL", 10_000n);
  const to = await ledger.open("lee", "NORMAL", 10_000n);
  await Promise.all(Array.from({ length: 300 }, () => ledger.post(transferOf(from, to, 10n))));
  const hold = requestOf(ledger.orgId, {
    kind: "placeHold",
    walletId: to,
    amountWon: won(500n),
    dailyLimitWon: DAILY_LIMIT,
    toAddress: `0x${"a".repeat(40)}`,
  });
  await postTo(ledger.engine, hold);
  const charge = requestOf(ledger.orgId, chargeOf(to, 700n));
  await postTo(ledger.engine, charge);
  await ledger.post({ kind: "cancelCharge", chargeRequestId: charge.requestId, amountWon: won(200n) });
  await ledger.post({ kind: "creditExternal", walletId: to, amountWon: won(5n), chainLogId: newId("evt") });
  await payAndReturn(from, to);
  for (const kind of ["postHold", "voidHold"] as const) await holdAndEnd(from, kind);
});
afterEach(() => ledger.close());

async function payAndReturn(payerWalletId: string, receiverWalletId: string): Promise<void> {
  const payment = requestOf(ledger.orgId, {
    ...{ kind: "payment", payerWalletId, receiverWalletId },
    ...{ amountWon: won(100n), incentiveAmountWon: null, accrualRateBps: 0 },
  });
  await postTo(ledger.engine, payment);
  await ledger.post({ kind: "cancelPayment", paymentRequestId: payment.requestId });
  const other = requestOf(ledger.orgId, payment.intent);
  await postTo(ledger.engine, other);
  await ledger.post({
    ...{ kind: "refundPayment", paymentRequestId: other.requestId, amountWon: won(40n) },
  });
}

async function holdAndEnd(walletId: string, kind: "postHold" | "voidHold"): Promise<void> {
  const toAddress = `0x${"b".repeat(40)}`;
  const hold = requestOf(ledger.orgId, {
    ...{ kind: "placeHold", walletId, toAddress },
    ...{ amountWon: won(50n), dailyLimitWon: DAILY_LIMIT },
  });
  await postTo(ledger.engine, hold);
  await ledger.post({ kind, holdRequestId: hold.requestId });
}

async function report(): Promise<{ code: number; output: string }> {
  let output = "";
  const hear = (text: string) => void (output += text);
  const code = await runAdmin(["verify"], {
    config: { DATABASE_URL: ledger.database.url },
    out: hear,
    err: hear,
  });
  return { code, output };
}

test("a valid ledger has 0 violations and reports its counts", async () => {
  const { code, output } = await report();
  expect(output).toMatch(/0 violations in 1 organisations, 5 accounts, 316 entries, 620 postings, 3 holds/);
  expect(output).toContain("316 entries were posted by callers without certificates");
  expect(code).toBe(0);
});

test.each([
  [
    "a balance",
    "update accounts set balance_won = balance_won + 1 where type = 1 and sequence > 300",
    ["I1_conservation", "I3_balance"],
  ],
  ["what is held", "update accounts set held_won = held_won - 1 where held_won > 0", ["I3_held"]],
  [
    "an amount",
    "update postings set amount_won = amount_won + 1 where sequence = 150",
    ["I2_entry_balance", "I3_chain"],
  ],
  ["a missing posting", "delete from postings where sequence = 200", ["I2_entry_named", "I3_chain"]],
  ["a sequence", "update accounts set sequence = sequence + 1 where type = 1", ["I3_balance"]],
  [
    "a closed account with a hold",
    "alter table accounts drop constraint accounts_closed_hold_nothing; update accounts set closed_at = now() where held_won > 0",
    ["I6_holds"],
  ],
  ["a forgotten cancellation", "delete from cancelled_charges", ["I4_cancelled"]],
  [
    "a cancellation of another charge, which has long left",
    "update cancelled_charges set charge_id = uuid_from(now() - interval '200 days')",
    ["I4_cancelled"],
  ],
  [
    "a cancellation that gave nothing back",
    "update cancelled_charges set cancelled_won = cancelled_won + 1",
    ["I4_charges"],
  ],
  [
    "a deposit without its entry",
    "update credits set entry_id = 'ffffffff-ffff-7fff-8fff-ffffffffffff'",
    ["I4_deposits"],
  ],
  ["a forgotten deposit", "delete from credits", ["I4_deposits"]],
  ["a forgotten refund of a payment", "delete from refunded_payments", ["I4_refunded"]],
  [
    "a refund that gave less back",
    "update refunded_payments set refunded_won = refunded_won + 1",
    ["I4_refunds"],
  ],
  [
    "a refunded payment that is cancelled too",
    "insert into cancelled_payments select org_id, payment_id, uuid_from(now()) from refunded_payments",
    ["I4_payments", "I4_refunds"],
  ],
  ["a forgotten cancellation of a payment", "delete from cancelled_payments", ["I4_payments"]],
  [
    "a hold that was given back after it was posted",
    "update holds set state = 'voided', settled_at = now() where state = 'posted'",
    ["I6_once"],
  ],
  [
    "a hold that was posted after it was given back",
    "update holds set state = 'posted' where state = 'voided'",
    ["I6_once"],
  ],
  [
    "a hold that ended without an entry",
    "update accounts set held_won = 0; update holds set state = 'posted', settled_at = now() where state = 'open'",
    ["I6_once"],
  ],
  ["a forgotten hold", "delete from holds where state = 'voided'", ["I6_placed"]],
  [
    "a posting without its entry",
    "update postings set entry_id = uuid_from(now()) where sequence = 20",
    ["I2_no_strays", "I2_entry_named"],
  ],
  [
    "a gap in the journal",
    "update entries set org_sequence = 100000 where org_sequence = 17",
    ["I7_sequence"],
  ],
  [
    "a journal out of order",
    "update entries set org_sequence = 100000 - org_sequence where org_sequence between 20 and 30",
    ["I7_order", "I7_sequence"],
  ],
  [
    "a hold that nobody placed",
    "update holds set id = 'ffffffff-ffff-7fff-8fff-ffffffffffff' where state = 'open'",
    ["I6_placed"],
  ],
  [
    "a charge that another service than payment posted",
    "update entries set posted_by = case kind when 3 then 'wallet' when 6 then 'payment' end",
    ["I8_callers"],
  ],
  ["a block without its types", "delete from type_blocks where sequence = 128", ["I3_types"]],
])("detects that somebody changed %s", async (_what, statement, invariants) => {
  const admin = openTestDatabase(ledger.database.adminUrl, "ledger");
  await admin.run(rawSql(statement));
  await admin.close();
  const { code, output } = await report();
  for (const invariant of invariants) expect(output).toContain(`FAIL  ${invariant}`);
  expect(code).toBe(1);
});
