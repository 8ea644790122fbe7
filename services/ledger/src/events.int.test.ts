import { newId } from "@wonrail/kit/contract/ids";
import { sql } from "@wonrail/kit/db";
import { won } from "@wonrail/kit/contract/money";
import { JournalPosted } from "@wonrail/proto/ledger/events/v1/events";
import { HoldStatus } from "@wonrail/proto/ledger/v1/ledger";
import { DAILY_LIMIT, requestOf, soundLedger } from "./commands/testing/ledger";
import { chargeOf } from "./domain/testing/requests";
import { entryMessage } from "./messages";
import { listJournal } from "./queries/listJournal";

const ledger = soundLedger();

interface OutboxRow {
  topic: string;
  type: string;
  aggregate_id: string;
  version: bigint;
  org_id: string;
  request_id: string;
  traceparent: string;
  payload: Uint8Array;
}

function outboxRows(orgId: string): Promise<OutboxRow[]> {
  return ledger.database.db.query<OutboxRow>(sql`select * from outbox where org_id = ${orgId} order by id`);
}

test("every posted entry is in one event of its organisation, equal to the journal's entry", async () => {
  const { orgId, engine, database } = ledger;
  const traceparent = `00-${"ab".repeat(16)}-${"cd".repeat(8)}-01`;
  const origin = { requestId: "partner-own:id_1", traceparent };
  const walletId = await ledger.open("kim");
  const charges = Array.from({ length: 20 }, (_, index) =>
    requestOf(orgId, chargeOf(walletId, 1_000n + BigInt(index)), {
      memo: `no. ${index}`,
      reference: `order ${index}`,
      metadata: { desk: `${index}` },
    }),
  );
  const cancel = requestOf(orgId, {
    kind: "cancelCharge",
    chargeRequestId: charges[0]!.requestId,
    amountWon: won(200n),
  });
  const hold = requestOf(orgId, {
    kind: "placeHold",
    walletId,
    amountWon: won(70n),
    dailyLimitWon: DAILY_LIMIT,
    toAddress: `0x${"b".repeat(40)}`,
  });
  const refused = requestOf(orgId, chargeOf(newId("wal"), 1n));
  for (const request of [...charges, cancel, hold, refused])
    await engine.post({ request, origin, deadlineMs: Infinity });
  await ledger.post({ kind: "voidHold", holdRequestId: hold.requestId });

  const rows = await outboxRows(orgId);
  const { entries } = await listJournal(database.db, orgId, 0n, 500);
  expect(entries).toHaveLength(1 + 20 + 1 + 1 + 1);
  expect(rows.map(({ version }) => version)).toEqual(entries.map((_, index) => BigInt(index + 1)));
  expect(rows.map(({ payload }) => JournalPosted.decode(payload).entries)).toEqual(
    entries.map((entry) => [entryMessage(entry)]),
  );
  for (const row of rows)
    expect(row).toMatchObject({ topic: "wonrail.ledger.v1", type: "journal_posted", aggregate_id: orgId });
  expect(rows.slice(1, 23)).toEqual(
    rows.slice(1, 23).map((row) => ({ ...row, request_id: origin.requestId, traceparent })),
  );
});

test("entries that are committed together are events of twenty at most, each organisation's in order", async () => {
  const walletId = await ledger.open("choi");
  const origin = { requestId: "", traceparent: "" };
  const before = (await outboxRows(ledger.orgId)).length;
  const requests = Array.from({ length: 50 }, () => requestOf(ledger.orgId, chargeOf(walletId, 1n)));
  await Promise.all(requests.map((request) => ledger.engine.post({ request, origin, deadlineMs: Infinity })));
  const rows = (await outboxRows(ledger.orgId)).slice(before);
  const events = rows.map(({ payload }) => JournalPosted.decode(payload).entries);
  const { entries } = await listJournal(ledger.database.db, ledger.orgId, 0n, 500);
  expect(events.flat()).toEqual(entries.slice(-50).map(entryMessage));
  expect(rows.map(({ version }) => version)).toEqual(events.map((each) => each.at(-1)!.orgSequence));
  expect(rows.length).toBeLessThan(50);
  expect(Math.max(...events.map((each) => each.length))).toBeLessThanOrEqual(20);
});

test("a cancellation's event carries the cancelled entry, and a hold's event the hold as the entry left it", async () => {
  const walletId = await ledger.open("lee", "NORMAL", 5_000n);
  const charge = requestOf(ledger.orgId, chargeOf(walletId, 700n), { memo: "'{}\\" });
  const origin = { requestId: "", traceparent: "" };
  await ledger.engine.post({ request: charge, origin, deadlineMs: Infinity });
  await ledger.post({ kind: "cancelCharge", chargeRequestId: charge.requestId, amountWon: won(200n) });
  const toAddress = `0x${"c".repeat(40)}`;
  const hold = requestOf(ledger.orgId, {
    kind: "placeHold",
    walletId,
    amountWon: won(70n),
    dailyLimitWon: DAILY_LIMIT,
    toAddress,
  });
  await ledger.engine.post({ request: hold, origin, deadlineMs: Infinity });
  await ledger.post({ kind: "postHold", holdRequestId: hold.requestId });

  const rows = (await outboxRows(ledger.orgId)).slice(-3);
  const [cancelled, placed, posted] = rows.map(({ payload }) => JournalPosted.decode(payload).entries[0]!);
  expect(cancelled!.original).toMatchObject({
    requestId: charge.requestId,
    memo: "'{}\\",
    original: undefined,
  });
  const value = { walletId, toAddress, amountWon: "70", holdRequestId: hold.requestId, sequence: 3n };
  expect(placed!.result).toMatchObject({ $case: "hold", value: { ...value, status: HoldStatus.OPEN } });
  expect(posted!.result).toMatchObject({ $case: "hold", value: { ...value, status: HoldStatus.POSTED } });
  expect(posted!.balances).toMatchObject([{ balanceWon: "5430", heldWon: "0" }]);
});
