import { newId } from "@wonrail/kit/contract/ids";
import { won } from "@wonrail/kit/contract/money";
import { sql, tx } from "@wonrail/kit/db";
import { advanceClock, findClocks } from "@wonrail/kit/sandboxClocks";
import { chargeOf } from "../domain/testing/requests";
import {
  codeOf,
  DAILY_LIMIT,
  postTo,
  requestOf,
  soundLedger,
  testEngine,
  transferOf,
} from "./testing/ledger";

const ledger = soundLedger();
const DAY_MS = 24 * 3_600_000;

test("a charge can be cancelled for 30 days of the test clock, and its row keeps the real time", async () => {
  const { charge, cancel } = await organisation();
  const before = await charge();
  await advance(29 * DAY_MS);
  expect(await cancel(before, 1n)).toBe("posted");
  await advance(31 * DAY_MS);
  expect(await cancel(before, 1n)).toBe("CHG_004");
  // A later charge begins its own 30 days, although the clock is ahead by more.
  const after = await charge();
  expect(await cancel(after, 1n)).toBe("posted");
  const uuids = [before, after].map((id) => id.slice(4));
  const rows = await ledger.database.db.query<{ seconds: number }>(sql`
    select abs(extract(epoch from now() - posted_at))::float8 as seconds from entries where id = any(${uuids}::uuid[])`);
  expect(rows).toHaveLength(2);
  for (const { seconds } of rows) expect(seconds).toBeLessThan(600);
});

test("the daily limit begins anew on the next day of the test clock", async () => {
  const { from, transfer } = await organisation();
  expect(await transfer(from, DAILY_LIMIT)).toBe("posted");
  expect(await transfer(from, 1n)).toBe("TRF_003");
  await advance(DAY_MS);
  expect(await transfer(from, DAILY_LIMIT)).toBe("posted");
  expect(await transfer(from, 1n)).toBe("TRF_003");
});

test("the clock of one organisation moves no other, and a ledger without a sandbox reads none", async () => {
  const one = await organisation();
  const charged = await one.charge();
  await advance(31 * DAY_MS, newId("org"));
  expect(await one.cancel(charged, 1n)).toBe("posted");
  await advance(31 * DAY_MS);
  const main = testEngine({ db: ledger.database.db, hasSandbox: false });
  const cancellation = { kind: "cancelCharge", chargeRequestId: charged, amountWon: null } as const;
  expect(codeOf(await postTo(main, requestOf(orgId, cancellation)))).toBe("posted");
  await main.close();
});

test("a clock never goes back, and concurrent advances end at the furthest", async () => {
  const { db } = ledger.database;
  const other = newId("org");
  const moved = await Promise.all(
    [5, 3, 9, 9, 1].map((offsetMs) => tx(db, (tx) => advanceClock(tx, { orgId: other, offsetMs }))),
  );
  expect(moved.reduce((sum, byMs) => sum + byMs, 0)).toBe(9);
  expect(await tx(db, (tx) => advanceClock(tx, { orgId: other, offsetMs: 2 }))).toBe(0);
  const offsets = (await findClocks(db, [other])).get(other)!.map(({ offsetMs }) => offsetMs);
  expect(offsets.at(-1)).toBe(9);
  expect(offsets).toEqual([...offsets].sort((one, another) => one - another));
});

/** The organisation of the present test. */
let orgId: string;

async function organisation() {
  orgId = newId("org");
  const post = async (intent: Parameters<typeof requestOf>[1]) => {
    const request = requestOf(orgId, intent);
    return { code: codeOf(await postTo(ledger.engine, request)), requestId: request.requestId };
  };
  const open = async () => {
    const walletId = newId("wal");
    await post({ kind: "openAccount", walletId, userId: walletId, type: "NORMAL" });
    return walletId;
  };
  const [from, to] = [await open(), await open()];
  await post(chargeOf(from, 3n * DAILY_LIMIT));
  return {
    from,
    charge: async () => (await post(chargeOf(from, 1_000n))).requestId,
    cancel: async (chargeRequestId: string, amount: bigint) =>
      (await post({ kind: "cancelCharge", chargeRequestId, amountWon: won(amount) })).code,
    transfer: async (walletId: string, amount: bigint) => (await post(transferOf(walletId, to, amount))).code,
  };
}

function advance(offsetMs: number, of = orgId): Promise<number> {
  return tx(ledger.database.db, (tx) => advanceClock(tx, { orgId: of, offsetMs }));
}
