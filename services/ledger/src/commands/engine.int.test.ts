import { setFlagsFromString } from "node:v8";
import { runInNewContext } from "node:vm";
import { findAccounts, orgAccountId } from "../store/accounts";
import { openDatabase, sql, tx } from "@wonrail/kit/db";
import { idToUuid, newId } from "@wonrail/kit/contract/ids";
import { MAX_WON, won } from "@wonrail/kit/contract/money";
import { eventually, openTestDatabase, testLog } from "@wonrail/kit/testing";
import {
  balancesOf,
  codeOf,
  DAILY_LIMIT,
  postTo,
  requestOf,
  soundLedger,
  testEngine,
  transferOf,
} from "./testing/ledger";
import { chargeOf } from "../domain/testing/requests";
import type { WalletType } from "../domain/accountTypes";

const ledger = soundLedger();

test("each kind of intent is posted, replayed alike, and refused when it breaks a rule", async () => {
  const { post, open, orgId } = ledger;
  const [payer, incentive, receiver] = [
    await open("kim", "NORMAL", 10_000n),
    await open("kim", "INCENTIVE", 300n),
    await open("shop"),
  ];
  const payment = requestOf(orgId, {
    kind: "payment",
    payerWalletId: payer,
    receiverWalletId: receiver,
    amountWon: won(1_300n),
    incentiveAmountWon: null,
    accrualRateBps: 150,
  });
  const paid = await postTo(ledger.engine, payment);
  expect(paid).toMatchObject({
    status: "posted",
    entry: {
      postings: [
        { accountId: incentive, type: "INCENTIVE_USE", amountWon: -300n, balanceAfterWon: 0n },
        { accountId: payer, type: "PAYMENT", amountWon: -1_000n, balanceAfterWon: 9_000n },
        { accountId: receiver, type: "PAYMENT", amountWon: 1_300n, balanceAfterWon: 1_300n },
        { accountType: "ORG_INCENTIVE", type: "INCENTIVE", amountWon: -15n },
        { accountId: incentive, type: "INCENTIVE", amountWon: 15n, balanceAfterWon: 15n },
      ],
    },
  });
  expect(await postTo(ledger.engine, payment)).toEqual(paid);

  const cancel = { kind: "cancelPayment", paymentRequestId: payment.requestId } as const;
  expect(codeOf(await post(cancel))).toBe("posted");
  expect(codeOf(await post(cancel))).toBe("PAY_003");

  const charge = requestOf(orgId, chargeOf(receiver, 5_000n));
  expect(codeOf(await postTo(ledger.engine, charge))).toBe("posted");
  const part = { kind: "cancelCharge", chargeRequestId: charge.requestId, amountWon: won(3_000n) } as const;
  expect(await post(part)).toMatchObject({
    entry: { chargeCancelled: { cancelledWon: 3_000n, remainingWon: 2_000n } },
  });
  expect(codeOf(await post(part))).toBe("CHG_005");

  const hold = requestOf(orgId, {
    kind: "placeHold",
    walletId: receiver,
    amountWon: won(700n),
    dailyLimitWon: DAILY_LIMIT,
    toAddress: "0x00000000000000000000000000000000000000aa",
  });
  const held = await postTo(ledger.engine, hold);
  expect(held).toMatchObject({ entry: { balances: [{ balanceWon: 2_000n, heldWon: 700n }] } });
  expect(await postTo(ledger.engine, hold)).toEqual(held);
  expect(codeOf(await post({ kind: "closeAccount", walletId: receiver }))).toBe("WAL_003");
  expect(codeOf(await post({ kind: "postHold", holdRequestId: hold.requestId }))).toBe("posted");
  expect(codeOf(await post({ kind: "voidHold", holdRequestId: hold.requestId }))).toBe("TX_003");
  expect(await post({ kind: "refund", walletId: receiver })).toMatchObject({
    entry: { postings: [{ amountWon: -1_300n }, {}] },
  });
  expect(codeOf(await post({ kind: "closeAccount", walletId: receiver }))).toBe("posted");
  expect(codeOf(await post(chargeOf(receiver, 1_000n)))).toBe("WAL_004");

  const deposit = {
    kind: "creditExternal",
    walletId: receiver,
    amountWon: won(50n),
    chainLogId: "31337/0xa/0xb/1",
  } as const;
  const credited = await post(deposit);
  expect(codeOf(credited)).toBe("posted");
  expect(await post(deposit)).toEqual(credited);
  expect(codeOf(await post({ ...deposit, amountWon: won(51n) }))).toBe("REQ_003");
});

test("a stored refusal is replayed, and another body under its id is refused and not stored", async () => {
  const from = await ledger.open("poor");
  const to = await ledger.open("rich");
  const intent = transferOf(from, to, 10n);
  const request = requestOf(ledger.orgId, intent);
  expect(codeOf(await postTo(ledger.engine, request))).toBe("TRF_001");
  await ledger.post(chargeOf(from, 1_000n));
  expect(codeOf(await postTo(ledger.engine, request))).toBe("TRF_001");
  const other = requestOf(ledger.orgId, { ...intent, amountWon: won(11n) }, { requestId: request.requestId });
  expect(codeOf(await postTo(ledger.engine, other))).toBe("REQ_003");
});

test("a deposit beyond the limit is refused, and credited under the same id when there is room", async () => {
  const walletId = await ledger.open("full", "NORMAL", MAX_WON);
  const deposit = requestOf(ledger.orgId, {
    ...{ kind: "creditExternal", walletId, amountWon: won(100n), chainLogId: "1/0xb/0xt/1" },
  });
  for (let time = 0; time < 2; time += 1)
    expect(codeOf(await postTo(ledger.engine, deposit))).toBe("REQ_001");
  await ledger.post({ kind: "refund", walletId });
  for (let time = 0; time < 2; time += 1) expect(codeOf(await postTo(ledger.engine, deposit))).toBe("posted");
  expect(await balancesOf(ledger, [walletId])).toEqual([100n]);
});

test("fifty parallel requests with one id through two replicas have one effect and equal answers", async () => {
  const second = testEngine({ db: openTestDatabase(ledger.database.url, "ledger") });
  const walletId = await ledger.open();
  const request = requestOf(ledger.orgId, chargeOf(walletId, 1_000n));
  const answers = await Promise.all(
    Array.from({ length: 50 }, (_, index) => postTo(index % 2 === 0 ? ledger.engine : second, request)),
  );
  for (const answer of answers) expect(answer).toEqual(answers[0]);
  expect(await balancesOf(ledger, [walletId])).toEqual([1_000n]);
  await second.close();
});

test("parallel holds are placed only up to the balance", async () => {
  const second = testEngine({ db: openTestDatabase(ledger.database.url, "ledger") });
  const hold = (walletId: string) =>
    requestOf(ledger.orgId, {
      kind: "placeHold",
      walletId,
      amountWon: won(70n),
      dailyLimitWon: DAILY_LIMIT,
      toAddress: "0x00000000000000000000000000000000000000aa",
    });
  // The first round also connects the second replica; later rounds meet it at work.
  for (let round = 0; round < 8; round += 1) {
    const walletId = await ledger.open(undefined, "NORMAL", 1_000n);
    const outcomes = await Promise.all(
      Array.from({ length: 40 }, (_, index) =>
        postTo(index % 2 === 0 ? ledger.engine : second, hold(walletId)),
      ),
    );
    expect(outcomes.filter(({ status }) => status === "posted").length).toBe(14);
    expect(new Set(outcomes.map(codeOf))).toEqual(new Set(["posted", "TRF_001"]));
  }
  expect(await ledger.violations()).toEqual([]);
  await second.close();
});

test("a payment debits a wallet that another replica has just opened, beside the cached ones", async () => {
  const { post, open, orgId } = ledger;
  const other = testEngine({ db: openTestDatabase(ledger.database.url, "ledger") });
  const [payer, shop] = [await open("lee", "NORMAL", 1_000n), await open("lee's shop")];
  const types = async () => {
    const amounts = { amountWon: won(300n), incentiveAmountWon: null, accrualRateBps: 0 };
    const outcome = await post({ kind: "payment", payerWalletId: payer, receiverWalletId: shop, ...amounts });
    return outcome.status === "posted" ? outcome.entry.postings.map(({ accountType }) => accountType) : [];
  };
  expect(await types()).toEqual(["NORMAL", "NORMAL"]);
  const openElsewhere = async (type: WalletType) => {
    const walletId = newId("wal");
    await postTo(other, requestOf(orgId, { kind: "openAccount", walletId, userId: "lee", type }));
    return walletId;
  };
  const incentive = await openElsewhere("INCENTIVE");
  for (const last of [false, true]) {
    await postTo(other, requestOf(orgId, chargeOf(incentive, 250n)));
    expect(await types()).toEqual(["INCENTIVE", "NORMAL", "NORMAL"]);
    if (!last) await openElsewhere("GOVERNMENT");
  }
  await other.close();
});

test("times on an account never run backwards, also when it was locked last", async () => {
  const { post, open, orgId, database } = ledger;
  const other = testEngine({ db: openTestDatabase(database.url, "ledger") });
  const [payer, shop] = [await open("choi", "NORMAL", 1_000n), await open("choi's shop")];
  const pay = () =>
    post({
      ...{ kind: "payment", payerWalletId: payer, receiverWalletId: shop, amountWon: won(300n) },
      ...{ incentiveAmountWon: null, accrualRateBps: 0 },
    });
  await pay();
  const incentive = newId("wal");
  await postTo(
    other,
    requestOf(orgId, { kind: "openAccount", walletId: incentive, userId: "choi", type: "INCENTIVE" }),
  );
  await postTo(other, requestOf(orgId, chargeOf(incentive, 250n)));
  // Another transaction locks a wallet that this replica does not know yet. The replica holds all
  // other locks when it reaches this one.
  const { paid, releasedMs } = await tx(database.db, async (tx) => {
    await tx.query(sql`select number from accounts where id = ${idToUuid(incentive)} for no key update`);
    const paid = pay();
    await eventually(async () => {
      const waiting = sql`select pid from pg_stat_activity where wait_event_type = 'Lock' and datname = current_database()`;
      expect(await database.db.query(waiting)).toHaveLength(1);
    });
    const { now } = await tx.one<{ now: Date }>(sql`select clock_timestamp() as now`);
    return { paid, releasedMs: now.getTime() };
  });
  const outcome = await paid;
  const postedAtMs = outcome.status === "posted" ? outcome.entry.postedAtMs : 0;
  expect(postedAtMs).toBeGreaterThanOrEqual(releasedMs);
  await other.close();
});

test.each([2, 300])(
  "four replicas that move money to and fro between %d hot accounts all make progress, lose nothing and never block each other for good",
  async (count) => {
    const { url } = ledger.database;
    const pools = [1, 2, 3, 4].map(() =>
      openDatabase({ url, schema: "ledger", applicationName: "hot", max: 8, log: testLog() }),
    );
    const engines = pools.map((db) => testEngine({ db }));
    const wallets = await Promise.all(
      Array.from({ length: count }, () => ledger.open(undefined, "NORMAL", 50_000n)),
    );
    const endMs = Date.now() + 2_000;
    const done = [0, 0, 0, 0];
    const worker = async (number: number): Promise<void> => {
      // On a slow machine, until each replica has seen the others at work.
      for (let turn = number; Date.now() < endMs || Math.min(...done) < 500; turn += 1) {
        const from = Math.floor(Math.random() * count);
        const to = (from + 1 + Math.floor(Math.random() * (count - 1))) % count;
        const intent = transferOf(wallets[from]!, wallets[to]!, 1n);
        const replica = turn % engines.length;
        expect(codeOf(await postTo(engines[replica]!, requestOf(ledger.orgId, intent)))).toBe("posted");
        done[replica]! += 1;
      }
    };
    await Promise.all(Array.from({ length: 400 }, (_, number) => worker(number)));
    const balances = await balancesOf(ledger, wallets);
    expect(balances.reduce((sum, balance) => sum + balance, 0n)).toBe(BigInt(count) * 50_000n);
    expect(await postingsBeforeTheirTime()).toBe(0n);
    await Promise.all(engines.map((engine) => engine.close()));
    await Promise.all(pools.map((db) => db.close()));
    // A backend reports its statistics when it ends at the latest.
    await eventually(async () => {
      const there = sql`select from pg_stat_activity where datname = current_database() and application_name = 'hot'`;
      expect(await ledger.database.db.query(there)).toEqual([]);
    });
    const { deadlocks } = await ledger.database.db.one<{ deadlocks: bigint }>(
      sql`select deadlocks from pg_stat_database where datname = current_database()`,
    );
    expect(deadlocks).toBe(0n);
  },
  60_000,
);

/** Look-ups by time require that times on one account never run backwards. */
async function postingsBeforeTheirTime(): Promise<bigint> {
  const { count } = await ledger.database.db.one<{ count: bigint }>(sql`
    select count(*) as count
    from (
      select e.posted_at, lag(e.posted_at) over (partition by p.account_number order by p.sequence) as before
      from postings p join entries e on e.org_id = p.org_id and e.id = p.entry_id
    ) times
    where posted_at < before`);
  return count;
}

test("the service's role can neither change nor delete journal rows", async () => {
  const { db } = ledger.database;
  await ledger.open("journal", "NORMAL", 1_000n);
  for (const statement of [
    sql`update postings set amount_won = 1`,
    sql`delete from postings`,
    sql`update entries set memo = 'x'`,
    sql`delete from entries`,
    sql`truncate entries`,
    sql`delete from accounts`,
  ]) {
    await expect(db.run(statement)).rejects.toThrow(/permission denied/);
  }
});

test("the service's role can move money only through one function", async () => {
  const { db } = ledger.database;
  for (const statement of [
    sql`update accounts set balance_won = 1`,
    sql`update accounts set sequence = 1`,
    sql`insert into postings select * from postings limit 1`,
    sql`insert into journal_partitions values ('x', now(), now())`,
  ]) {
    await expect(db.run(statement)).rejects.toThrow(/permission denied/);
  }
});

test.each<[string, RawPosting[], string]>([
  [
    "does not sum to zero",
    [
      ["a", 1, 5, 5],
      ["b", 1, 4, 4],
    ],
    "postings_balanced",
  ],
  ["has one posting only", [["a", 1, 5, 5]], "postings_balanced"],
  [
    "moves nothing",
    [
      ["a", 1, 0, 0],
      ["b", 1, 0, 0],
    ],
    "postings_move_something",
  ],
  [
    "leaves a gap",
    [
      ["a", 2, 5, 5],
      ["issuance", 0, -5, 0],
    ],
    "postings_follow",
  ],
  [
    "uses a sequence again",
    [
      ["rich", 1, 5, 1_005],
      ["issuance", 0, -5, 0],
    ],
    "account_number_sequence",
  ],
  [
    "ends at another balance than was decided",
    [
      ["a", 1, 5, 6],
      ["issuance", 0, -5, 0],
    ],
    "postings_follow",
  ],
  [
    "overdraws a wallet",
    [
      ["a", 1, -5, -5],
      ["b", 1, 5, 5],
    ],
    "accounts_floor",
  ],
])("the database refuses an entry that %s", async (_what, rows, constraint) => {
  await expect(writeRaw(rows)).rejects.toMatchObject({ constraint: expect.stringContaining(constraint) });
});

/** The sequence and balance that the issuance account would have. */
type RawPosting = [
  account: "a" | "b" | "rich" | "issuance",
  sequence: number,
  amountWon: number,
  balanceAfterWon: number,
];

/** As postings.ts writes, with numbers of the test's choice. */
async function writeRaw(rows: RawPosting[]): Promise<void> {
  const { database, orgId } = ledger;
  const ids = {
    a: await ledger.open(),
    b: await ledger.open(),
    rich: await ledger.open(undefined, "NORMAL", 1_000n),
    issuance: orgAccountId(orgId, "ORG_ISSUANCE"),
  };
  const accounts = await findAccounts(database.db, orgId, Object.values(ids));
  const account = (name: keyof typeof ids) => accounts.find(({ id }) => id === ids[name])!;
  const lines = rows.map(([name, sequence, amountWon, balanceAfterWon]) => {
    const { number, sequence: last, balanceWon } = account(name);
    return name === "issuance"
      ? { number, sequence: last + 1n, amountWon, balanceAfterWon: balanceWon + BigInt(amountWon) }
      : { number, sequence: BigInt(sequence), amountWon, balanceAfterWon: BigInt(balanceAfterWon) };
  });
  const entry = newId("jrn").slice(4);
  const [numbers, zeros] = [lines.map(({ number }) => number), lines.map(() => 0)];
  await database.db.query(sql`
    select write_postings(
      ${numbers}::bigint[], ${lines.map(({ sequence }) => sequence)}::bigint[], ${lines.map(({ amountWon }) => amountWon)}::bigint[],
      ${lines.map((line) => line.balanceAfterWon)}::bigint[], ${lines.map(() => entry)}::uuid[], ${lines.map(() => entry)}::uuid[],
      ${lines.map(() => 1)}::smallint[],
      ${numbers}::bigint[], ${lines.map((line) => line.balanceAfterWon)}::bigint[], ${zeros}::bigint[], ${zeros}::bigint[],
      ${zeros}::integer[], ${zeros}::integer[], ${zeros}::smallint[], ${zeros}::smallint[],
      ${lines.map(() => null)}::timestamptz[])`);
}

test("the engine keeps no reference to answered requests", async () => {
  const walletId = await ledger.open();
  const answered: WeakRef<object>[] = [];
  while (answered.length < 20) {
    const request = requestOf(ledger.orgId, chargeOf(walletId, 1n));
    answered.push(new WeakRef(request));
    await postTo(ledger.engine, request);
  }
  setFlagsFromString("--expose-gc");
  (runInNewContext("gc") as () => void)();
  // The last batches' may be alive.
  expect(answered.filter((request) => request.deref()).length).toBeLessThan(5);
});
