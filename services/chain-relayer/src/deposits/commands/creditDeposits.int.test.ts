import { sql, tx } from "@wonrail/kit/db";
import { newId } from "@wonrail/kit/contract/ids";
import { type PostOutcome, type PostRequest } from "@wonrail/proto/ledger/v1/ledger";
import { DepositCredited } from "@wonrail/proto/relayer/events/v1/events";
import { bookingOf } from "../domain/deposits";
import { insertDeposits, type NewDeposit } from "../store/deposits";
import { creditDeposits } from "./creditDeposits";
import { createChainDouble, cursorAt, depsOn } from "../../testing/chainDouble";
import { freshDatabase } from "../../testing/database";

const database = freshDatabase();

test("a deposit is credited once under its log's name, and less than one KRW stays unbooked", async () => {
  const deposit = await seen(5_000_001n);
  // The ledger already has this log: it was credited before this database was set back.
  const before = newId("opn");
  const asked = await credit(() => before);
  const { walletId, blockHash, txHash, ledgerRef } = deposit;
  const chainLogId = `31337/${blockHash}/${txHash}/3`;
  const value = { walletId, amountWon: "5", chainLogId };
  expect(asked).toMatchObject([{ requestId: ledgerRef, intent: { $case: "creditExternal", value } }]);
  expect(await credit(() => before)).toEqual([]);

  expect(await database.db.query(sql`select state, ledger_ref from deposits`)).toEqual([
    { state: "CREDITED", ledger_ref: before },
  ]);
  expect(await unbooked()).toBe(1n);
  const events = await database.db.query<{ payload: Buffer; aggregate_id: string }>(
    sql`select payload, aggregate_id from outbox where type = 'deposit_credited'`,
  );
  expect(events.map(({ aggregate_id: id }) => id)).toEqual([before]);
  expect(DepositCredited.decode(events[0]!.payload)).toMatchObject({ walletId, amountWon: "5", txHash });
});

test("a deposit that the ledger refuses stays unbooked and is retried after at most ten minutes", async () => {
  await seen(5_000_000n);
  for (const [attempts, seconds] of [
    [0, 1],
    [3, 8],
    [2_000, 600],
  ] as const) {
    await database.db.run(sql`update deposits set attempts = ${attempts}, retry_at = now()`);
    expect(await credit(() => null)).toHaveLength(1);
    const row = await database.db.one(sql`
      select state, attempts, refusal,
        retry_at - now() between make_interval(secs => ${seconds - 1}::int)
          and make_interval(secs => ${seconds}::int) as later
      from deposits`);
    expect(row).toEqual({ state: "SEEN", attempts: attempts + 1, refusal: "WAL_004", later: true });
  }
  expect(await unbooked()).toBe(5_000_000n);
  // Not before its retry time.
  expect(await credit(() => null)).toEqual([]);
});

test("deposits stay unbooked while the chain's final block differs from the ingested one", async () => {
  await seen(5_000_000n);
  const chain = createChainDouble();
  chain.replacedFrom = 990n;
  await expect(credit(() => newId("opn"), undefined, chain)).rejects.toThrow("block 1000 was final as");
  expect(await unbooked()).toBe(5_000_000n);
  chain.replacedFrom = null;
  expect(await credit(() => newId("opn"), undefined, chain)).toHaveLength(1);
});

test("a credit is booked for its own wallet only", async () => {
  const { orgId } = await seen(5_000_000n);
  await seen(7_000_000n, { orgId, logIndex: 4 });
  await credit(() => newId("opn"));
  expect(await database.db.query(sql`select unbooked_units as units from settled_balances`)).toEqual([
    { units: 0n },
    { units: 0n },
  ]);
});

test("two replicas that credit a deposit at once write one event", async () => {
  const { ledgerRef } = await seen(5_000_000n);
  const other = () => credit(() => ledgerRef);
  await credit(() => ledgerRef, other);
  expect(await unbooked()).toBe(0n);
  expect(await database.db.query(sql`select from outbox where type = 'deposit_credited'`)).toHaveLength(1);
});

test("a deposit that cannot be recorded is postponed, and later deposits are credited", async () => {
  const { orgId, walletId } = await seen(5_000_000n);
  const first = newId("opn");
  await credit(() => first);
  // The ledger answers the next deposit with the first one's id.
  await seen(5_000_000n, { orgId, walletId, logIndex: 4 });
  await seen(7_000_000n, { logIndex: 5 });
  const answers = [first, newId("opn")];
  await credit(() => answers.shift()!);
  expect(
    await database.db.query(sql`select log_index, state, refusal from deposits order by log_index`),
  ).toEqual([
    { log_index: 3, state: "CREDITED", refusal: null },
    { log_index: 4, state: "SEEN", refusal: "not_written" },
    { log_index: 5, state: "CREDITED", refusal: null },
  ]);
});

async function seen(units: bigint, of: Partial<NewDeposit> = {}): Promise<NewDeposit> {
  const place = { txHash: `0x${"1".repeat(64)}`, logIndex: 3, blockNumber: 7n, blockHash: "0x7" };
  const to = { orgId: newId("org"), walletId: newId("wal"), fromAddress: `0x${"a".repeat(40)}` };
  const deposit = { ...place, ...to, units, ledgerRef: newId("opn"), ...bookingOf(units), ...of };
  await tx(database.db, async (tx) => {
    await insertDeposits(tx, [deposit]);
    await cursorAt(tx, 1_000n);
  });
  return deposit;
}

async function unbooked(): Promise<bigint> {
  const row = await database.db.one<{ units: bigint }>(
    sql`select unbooked_units as units from settled_balances`,
  );
  return row.units;
}

/** A fake ledger that has the request under this id, or refuses it. */
async function credit(
  requestIdOf: () => string | null,
  beforeAnswer?: () => Promise<unknown>,
  chain = createChainDouble(),
): Promise<PostRequest[]> {
  const asked: PostRequest[] = [];
  const outcomeOf = ({ intent }: PostRequest): PostOutcome => {
    const requestId = requestIdOf();
    if (requestId === null)
      return { outcome: { $case: "error", value: { code: "WAL_004" } }, replayed: false };
    if (intent?.$case !== "creditExternal") throw new Error("only deposits are credited");
    const { walletId: accountId, amountWon } = intent.value;
    const posting = { accountId, amountWon, sequence: 1n, balanceAfterWon: amountWon };
    const entry = { requestId, postings: [posting] };
    return { outcome: { $case: "posted", value: entry as never }, replayed: false };
  };
  const ledger = {
    postBulk: async ({ items }: { items: PostRequest[] }) => {
      asked.push(...items);
      await beforeAnswer?.();
      return { outcomes: items.map(outcomeOf) };
    },
  } as never;
  const deps = { ...depsOn(database.db, chain), ledger };
  await creditDeposits(deps, new AbortController().signal);
  return asked;
}
