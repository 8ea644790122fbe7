import { setTimeout as sleep } from "node:timers/promises";
import { openDatabase, rawSql, sql, tx, type Database } from "@wonrail/kit/db";
import { newId } from "@wonrail/kit/contract/ids";
import { Registry } from "@wonrail/kit/metrics";
import { won } from "@wonrail/kit/contract/money";
import { eventually, openTestDatabase, testLog } from "@wonrail/kit/testing";
import { tryLockAccounts, writtenUntil } from "../store/checks";
import {
  DAILY_LIMIT,
  postTo,
  requestOf,
  startTestLedger,
  transferOf,
  type TestLedger,
} from "./testing/ledger";
import { verifySince } from "./testing/verifySince";
import { createClosedAccountsGauge } from "../metrics/closedAccountsGauge";
import { verifyAccounts } from "./verifyAccounts";
import { lateEntries, newEntries, verifyAlways } from "./verifyAlways";
import { createViolationsGauge } from "../metrics/violationsGauge";

const LATE_BY_MS = 60_000;

let ledger: TestLedger;
let from: string;
let to: string;
let startedMs: number;

beforeEach(async () => {
  startedMs = Date.now();
  ledger = await startTestLedger();
  from = await ledger.open("kim", "NORMAL", 10_000n);
  to = await ledger.open("lee", "NORMAL", 10_000n);
  await Promise.all(Array.from({ length: 300 }, () => transfer(Date.now())));
});
afterEach(() => ledger.close());

/** A transfer whose request was made then. */
async function transfer(requestedMs: number): Promise<string> {
  const request = {
    ...requestOf(ledger.orgId, transferOf(from, to, 10n)),
    requestId: newId("opn", requestedMs),
  };
  expect(await postTo(ledger.engine, request)).toMatchObject({ status: "posted" });
  return request.requestId;
}

async function behindItsBack(statement: string): Promise<void> {
  const admin = openTestDatabase(ledger.database.adminUrl, "ledger");
  await admin.run(rawSql(statement));
  await admin.close();
}

async function broken(ranges: Parameters<typeof verifySince>[1]): Promise<string[]> {
  const found = await verifySince(ledger.database.db, ranges);
  return found.map(({ invariant }) => invariant);
}

const lately = () => newEntries(startedMs, Date.now() + 1);
const late = () => lateEntries(Date.now() - 2 * LATE_BY_MS, Date.now());

test.each([
  [
    "an amount",
    "update postings set amount_won = amount_won + 1 where sequence = 150",
    ["I2_entry_balance", "I3_chain"],
  ],
  ["a balance", "update accounts set balance_won = balance_won + 1 where sequence > 300", ["I3_balance"]],
  ["a sequence", "update accounts set sequence = sequence + 1 where sequence > 300", ["I3_balance"]],
  ["a missing posting", "delete from postings where sequence = 200", ["I2_entry_balance", "I3_chain"]],
  [
    "the balance after a posting",
    "update postings set balance_after_won = balance_after_won + 1 where sequence = 250",
    ["I3_chain"],
  ],
  [
    "the balance after a first posting",
    "update postings set balance_after_won = balance_after_won + 1 where sequence = 1",
    ["I3_chain"],
  ],
])("finds %s among what was posted lately", async (_what, statement, invariants) => {
  expect(await broken(lately())).toEqual([]);
  await behindItsBack(statement);
  expect(await broken(lately())).toEqual(expect.arrayContaining(invariants));
});

test("what was long on its way is not among what is new, and found among what is late", async () => {
  const id = await transfer(Date.now() - LATE_BY_MS);
  await transfer(Date.now());
  expect(await broken(late())).toEqual([]);
  await behindItsBack(
    `delete from postings where entry_id = '${id.slice(4)}' and account_number = (select min(account_number) from postings where entry_id = '${id.slice(4)}')`,
  );
  expect(await broken(newEntries(Date.now() - LATE_BY_MS / 2, Date.now()))).not.toContain("I2_entry_balance");
  expect(await broken(late())).toContain("I2_entry_balance");
});

test("those that were not on their way for long are not looked at again", async () => {
  await behindItsBack(
    "update entries set posted_at = uuid_extract_timestamp(id) + interval '499 milliseconds'",
  );
  await behindItsBack("delete from postings where sequence = 200");
  expect(await broken(late())).toEqual([]);
});

test("what a transaction that is still open writes is looked at next time", async () => {
  const { db } = ledger.database;
  const beforeMs = (await writtenUntil(db)).until.getTime();
  const other = openTestDatabase(ledger.database.url, "ledger");
  let duringMs = 0;
  let startedMs = 0;
  await tx(other, async (open) => {
    const row = await open.one<{ started: Date }>(
      sql`select now() as started, pg_current_xact_id()::text as written`,
    );
    startedMs = row.started.getTime();
    duringMs = (await writtenUntil(db)).until.getTime();
  });
  await other.close();
  expect(startedMs).toBeGreaterThanOrEqual(beforeMs);
  expect(duringMs).toBe(startedMs);
  expect((await writtenUntil(db)).until.getTime()).toBeGreaterThan(startedMs);
});

test("what is held and has no hold is found with the account that was touched, also when nothing was posted to it", async () => {
  const placeHold = {
    kind: "placeHold",
    walletId: to,
    amountWon: won(500n),
    dailyLimitWon: DAILY_LIMIT,
  } as const;
  await ledger.post({ ...placeHold, toAddress: `0x${"a".repeat(40)}` });
  // As if nothing else had happened lately.
  await behindItsBack("delete from entries where account_numbers is not null");
  expect(await broken(lately())).toEqual([]);
  await behindItsBack("update accounts set held_won = held_won + 1 where held_won > 0");
  expect(await broken(lately())).toEqual(["I3_held"]);
});

test("a turn counts the closed accounts that hold money, until they are opened again", async () => {
  const { turn, closed } = startVerifying();
  const walletId = await ledger.open("park", "INCENTIVE");
  const amountWon = won(500n);
  await ledger.post({ kind: "closeAccount", walletId });
  await turn();
  expect(await closed("INCENTIVE")).toBe("0");
  await ledger.post({ kind: "creditExternal", walletId, amountWon, chainLogId: "31337/0xa/0xb/1" });
  await turn();
  expect([await closed("NORMAL"), await closed("INCENTIVE")]).toEqual(["0", "1"]);

  // Whose turn it is not says nothing, and neither does who could not look.
  const rival = openTestDatabase(ledger.database.url, "ledger");
  await rival.dedicated(async (connection) => {
    await tryLockAccounts(connection, rival.schema);
    await turn();
  });
  await rival.close();
  expect(await closed("INCENTIVE")).toBeUndefined();
  await turn();
  expect(await closed("INCENTIVE")).toBe("1");
  await behindItsBack("alter table accounts rename column closed_at to away");
  await expect(turn()).rejects.toThrow("closed_at");
  expect(await closed("INCENTIVE")).toBeUndefined();
  await behindItsBack("alter table accounts rename column away to closed_at");

  await ledger.post({ kind: "reopenAccount", walletId });
  await turn();
  expect(await closed("INCENTIVE")).toBe("0");
});

function startVerifying(options: { maxWaiting?: number; sinceMs?: number; db?: Database } = {}) {
  const registry = new Registry();
  const { db } = { ...ledger.database, ...options };
  const gauge = createViolationsGauge({ log: testLog(), registry });
  const closedGauge = createClosedAccountsGauge({ log: testLog(), registry });
  const round = verifyAlways({ gauge, late: ledger.late, sinceMs: Date.now(), ...options, db });
  return {
    round: (signal = new AbortController().signal) => round(signal),
    turn: (signal = new AbortController().signal) => verifyAccounts({ db, gauge, closedGauge }, signal),
    async said(invariant: string, scope = "touched") {
      const line = `invariant_violations\\{invariant="${invariant}",scope="${scope}"\\} (\\d+)`;
      return new RegExp(line).exec(await registry.metrics())?.[1];
    },
    async closed(type: string) {
      const line = `ledger_closed_accounts_with_balance\\{type="${type}"\\} (\\d+)`;
      return new RegExp(line).exec(await registry.metrics())?.[1];
    },
  };
}

test("a round says what it found, and the next one says it again until it is gone", async () => {
  const { round, said } = startVerifying();
  const found = async (invariant: string) => {
    await round();
    return said(invariant);
  };
  expect(await found("I3_balance")).toBe("0");
  await transfer(Date.now());
  await behindItsBack("update accounts set balance_won = balance_won + 1 where sequence > 300");
  expect(await found("I3_balance")).not.toBe("0");
  expect(await found("I3_balance")).not.toBe("0");
  await behindItsBack("update accounts set balance_won = balance_won - 1 where sequence > 300");
  expect(await found("I3_balance")).toBe("0");
  expect(await found("I3_chain")).toBe("0");
});

test("accounts that cannot be looked at keep no entry back, are looked at when they can be, and nobody says meanwhile that they are sound", async () => {
  const { round, said } = startVerifying();
  await round();
  expect(await said("I3_held")).toBe("0");
  await behindItsBack("alter table holds rename column state to away");
  await transfer(Date.now());
  await behindItsBack("delete from postings where sequence = 302");
  await behindItsBack("update accounts set held_won = held_won + 1 where sequence > 300");
  await expect(round()).rejects.toThrow("state");
  expect(await said("I3_held")).toBeUndefined();
  expect(await said("I2_entry_balance")).toBe("1");
  await behindItsBack("alter table holds rename column away to state");
  await round();
  expect(await said("I3_held")).toBe("2");
});

test("when too many accounts wait for the next entries to be read, those are read the next time, and none is left out", async () => {
  const { round, said } = startVerifying({ maxWaiting: 1 });
  await transfer(Date.now());
  // Into another slice of time than what comes next.
  await sleep(2_100);
  const [later, to] = [await ledger.open("park", "NORMAL", 10_000n), await ledger.open("choi", "NORMAL", 0n)];
  await ledger.post({ ...transferOf(later, to, 10n) });
  await behindItsBack(`update accounts set balance_won = balance_won + 1 where id = '${later.slice(4)}'`);
  await expect(round()).rejects.toThrow("accounts wait to be looked at");
  expect(await said("I2_entry_balance")).toBeUndefined();
  expect(await said("I3_balance")).toBe("0");
  for (let rounds = 0; rounds < 5 && (await said("I3_balance")) === "0"; rounds += 1)
    await round().catch(() => undefined);
  expect(await said("I3_balance")).toBe("1");
});

test("what was found among entries is said until it is gone, also by a round that can read none", async () => {
  const { round, said } = startVerifying();
  const id = await transfer(Date.now());
  await behindItsBack("delete from postings where sequence = 302");
  await round();
  expect([await said("I2_entry_balance"), await said("I3_chain")]).toEqual(["1", "0"]);
  // Behind the times that are read anew.
  await sleep(1_100);
  await round();
  await round();
  expect(await said("I2_entry_balance")).toBe("1");
  await behindItsBack("alter table entries rename column sequences to away");
  await expect(round()).rejects.toThrow("sequences");
  expect([await said("I2_entry_balance"), await said("I3_chain")]).toEqual(["1", undefined]);
  await behindItsBack("alter table entries rename column away to sequences");
  await round();
  expect(await said("I2_entry_balance")).toBe("1");
  await behindItsBack(`delete from entries where id = '${id.slice(4)}'`);
  await round();
  expect(await said("I2_entry_balance")).toBe("0");
});

test("what was found with an account is said until it is gone, also by a round that can look at none", async () => {
  const { round, said } = startVerifying();
  await transfer(Date.now());
  await behindItsBack("update accounts set held_won = held_won + 1 where sequence > 300");
  await round();
  expect(await said("I3_held")).toBe("2");
  await behindItsBack("alter table holds rename column state to away");
  await expect(round()).rejects.toThrow("state");
  expect([await said("I3_held"), await said("I3_balance")]).toEqual(["2", undefined]);
  await behindItsBack("alter table holds rename column away to state");
  await behindItsBack("update accounts set held_won = held_won - 1 where sequence > 300");
  await round();
  expect([await said("I3_held"), await said("I3_balance")]).toEqual(["0", "0"]);
});

test("what was found is said although too many accounts wait for the next entries to be read", async () => {
  const { round, said } = startVerifying({ maxWaiting: 1 });
  await transfer(Date.now());
  await behindItsBack("delete from postings where sequence = 302");
  await sleep(2_100);
  await expect(round()).rejects.toThrow("accounts wait to be looked at");
  expect([await said("I2_entry_balance"), await said("I3_chain")]).toEqual(["1", undefined]);
});

test("a process that starts looks back to what was posted shortly before", async () => {
  await behindItsBack("delete from postings where sequence = 200");
  await sleep(1_100);
  const { db } = ledger.database;
  const registry = new Registry();
  const gauge = createViolationsGauge({ log: testLog(), registry });
  await verifyAlways({ db, gauge, late: ledger.late })(new AbortController().signal);
  expect(await registry.metrics()).toMatch(/invariant="I2_entry_balance",scope="touched"\} [1-9]/);
});

const LONG_AGO_MS = 20 * 60_000;

test("what was posted under an id of long ago is verified, by whoever posted it", async () => {
  const { round, said } = startVerifying();
  await round();
  const ids = [await transfer(Date.now() - LONG_AGO_MS), await transfer(Date.now() - LONG_AGO_MS)];
  await round();
  expect([await said("I2_entry_balance"), await said("I3_chain")]).toEqual(["0", "0"]);
  ids.push(await transfer(Date.now() - LONG_AGO_MS));
  await behindItsBack(`delete from postings where entry_id = '${ids[2]!.slice(4)}' and amount_won > 0`);
  await behindItsBack("update accounts set balance_won = balance_won + 1 where sequence > 300");
  await round();
  expect([await said("I2_entry_balance"), await said("I3_balance")]).toEqual(["1", "2"]);
});

test("a hold that was voided under an id of long ago has its account looked at", async () => {
  const { round, said } = startVerifying();
  const hold = requestOf(ledger.orgId, {
    ...{ kind: "placeHold", walletId: to, amountWon: won(500n), dailyLimitWon: DAILY_LIMIT },
    toAddress: `0x${"a".repeat(40)}`,
  });
  const longAgo = () => ({ requestId: newId("trf", Date.now() - LONG_AGO_MS) });
  await postTo(ledger.engine, hold);
  // Behind the times that are read anew.
  await sleep(1_100);
  await round();
  await ledger.post({ kind: "voidHold", holdRequestId: hold.requestId }, longAgo());
  await behindItsBack("alter table accounts drop constraint accounts_held_not_negative");
  await behindItsBack(`update accounts set held_won = held_won - 1 where id = '${to.slice(4)}'`);
  await round();
  expect([await said("I3_held"), await said("I3_floor")]).toEqual(["1", "1"]);
});

test("entries that cannot be read keep no account back", async () => {
  const { round, turn, said } = startVerifying();
  await round();
  await turn();
  await behindItsBack("alter table entries rename column sequences to away");
  await behindItsBack("update accounts set balance_won = balance_won + 1 where sequence > 300");
  await expect(round()).rejects.toThrow("sequences");
  expect(await said("I2_entry_balance")).toBeUndefined();
  await turn();
  expect(await said("I1_conservation", "all")).toBe("1");
  expect(await said("I3_held", "all")).toBe("0");
});

test("one replica at a time goes through all accounts, and a check that fails keeps the others from nothing", async () => {
  const [first, second] = [startVerifying(), startVerifying()];
  await second.turn();
  expect(await second.said("I1_conservation", "all")).toBe("0");
  const rival = openTestDatabase(ledger.database.url, "ledger");
  await rival.dedicated(async (connection) => {
    expect(await tryLockAccounts(connection, rival.schema)).toBe(true);
    await second.turn();
  });
  await rival.close();
  // What it knew may no longer be so.
  expect(await second.said("I1_conservation", "all")).toBeUndefined();

  await first.turn();
  await behindItsBack("alter table holds rename column state to away");
  await behindItsBack("update accounts set balance_won = balance_won + 1 where sequence > 300");
  await expect(first.turn()).rejects.toThrow("state");
  expect(await first.said("I1_conservation", "all")).toBe("1");
  expect(await first.said("I3_held", "all")).toBeUndefined();
});

test("all accounts are gone through while a month is leaving, and none waits for who does", async () => {
  const { turn, said } = startVerifying();
  const owner = openTestDatabase(ledger.database.ownerUrl, "ledger");
  await tx(owner, async (open) => {
    await open.run(rawSql("lock table entries, postings in access exclusive mode"));
    await turn();
  });
  await owner.close();
  expect(await said("I1_conservation", "all")).toBe("0");
});

test.each([
  ["a round", "entries, postings"],
  ["a turn", "accounts"],
])("%s that waits ends when the process does", async (what, tables) => {
  const patience = { lockTimeoutMs: 3_600_000, statementTimeoutMs: 3_600_000 };
  const { database } = ledger;
  const patient = openDatabase({
    ...{ url: database.url, schema: "ledger", applicationName: "patient", log: testLog() },
    ...patience,
  });
  const owner = openTestDatabase(database.ownerUrl, "ledger");
  const { round, turn } = startVerifying({ db: patient });
  const stop = new AbortController();
  await tx(owner, async (open) => {
    await open.run(rawSql(`lock table ${tables} in access exclusive mode`));
    const running = what === "a round" ? round(stop.signal) : turn(stop.signal);
    await eventually(async () =>
      expect(await open.query(sql`select from pg_locks where not granted`)).not.toEqual([]),
    );
    stop.abort();
    await running;
  });
  await Promise.all([owner.close(), patient.close()]);
});
