import { setTimeout as sleep } from "node:timers/promises";
import { newId } from "@wonrail/kit/contract/ids";
import { rawSql, sql } from "@wonrail/kit/db";
import { won } from "@wonrail/kit/contract/money";
import { openTestDatabase } from "@wonrail/kit/testing";
import { JournalPosted } from "@wonrail/proto/ledger/events/v1/events";
import fc from "fast-check";
import { chargeOf } from "../domain/testing/requests";
import type { Intent } from "../domain/intents";
import type { Entry } from "../domain/types";
import { listJournal } from "../queries/listJournal";
import { listHeads } from "../store/journalHeads";
import type { Engine } from "./engine";
import { DAILY_LIMIT, postTo, requestOf, soundLedger, testEngine, transferOf } from "./testing/ledger";

const ledger = soundLedger();

/** Describes a request: its kind, its wallets, its organisation and its replica. */
const step = fc.record({
  kind: fc.constantFrom("charge", "transfer", "pay", "hold", "refused", "open"),
  from: fc.nat(3),
  to: fc.nat(3),
  org: fc.nat(1),
  replica: fc.nat(1),
});

interface Step {
  kind: string;
  from: number;
  to: number;
  org: number;
  replica: number;
}

test("an organisation's entries have no gap and follow every account's order, with two replicas and late commits", async () => {
  await delayCommits();
  const replicas = [0, 1].map(() => openTestDatabase(ledger.database.url, "ledger"));
  const engines = replicas.map((db) => testEngine({ db }));
  const orgs = await Promise.all([0, 1].map(() => openOrganisation(engines[0]!)));
  await fc.assert(
    fc.asyncProperty(fc.array(step, { minLength: 20, maxLength: 120 }), async (steps) => {
      await Promise.all(steps.map((each) => play(engines[each.replica]!, orgs[each.org]!, each)));
      for (const { orgId } of orgs) await expectOrdered(orgId);
    }),
    { numRuns: 25 },
  );
  await Promise.all(engines.map((engine) => engine.close()));
  await Promise.all(replicas.map((db) => db.close()));
}, 120_000);

/**
 * About every third batch commits late: a deferred trigger sleeps in its COMMIT and holds its
 * locks.
 */
async function delayCommits(): Promise<void> {
  const owner = openTestDatabase(ledger.database.ownerUrl, "ledger");
  await owner.run(
    rawSql(`
      create function sleep_sometimes() returns trigger language plpgsql as $$
      begin
        if random() < 0.3 then perform pg_sleep(random() * 0.02); end if;
        return null;
      end $$`),
  );
  await owner.run(
    rawSql(`
      create constraint trigger late_commits after update on journal_heads
      deferrable initially deferred for each row execute function sleep_sometimes()`),
  );
  await owner.close();
}

interface Organisation {
  orgId: string;
  wallets: string[];
}

async function openOrganisation(engine: Engine): Promise<Organisation> {
  const orgId = newId("org");
  const wallets: string[] = [];
  for (let index = 0; index < 4; index += 1) {
    const walletId = newId("wal");
    wallets.push(walletId);
    const open: Intent = { kind: "openAccount", walletId, userId: `user ${index}`, type: "NORMAL" };
    await postTo(engine, requestOf(orgId, open));
    await postTo(engine, requestOf(orgId, chargeOf(walletId, 10_000n)));
  }
  return { orgId, wallets };
}

async function play(engine: Engine, { orgId, wallets }: Organisation, step: Step): Promise<void> {
  await sleep(Math.random() * 5);
  await postTo(engine, requestOf(orgId, intentOf(step, wallets)));
}

function intentOf({ kind, from, to }: Step, wallets: string[]): Intent {
  const [fromWalletId, toWalletId] = [wallets[from]!, wallets[to]!];
  switch (kind) {
    case "charge":
      return chargeOf(toWalletId, 5n);
    case "transfer":
      return transferOf(fromWalletId, toWalletId, 1n);
    case "pay":
      return {
        kind: "payment",
        payerWalletId: fromWalletId,
        receiverWalletId: toWalletId,
        amountWon: won(3n),
        incentiveAmountWon: null,
        accrualRateBps: 0,
      };
    case "hold":
      return {
        kind: "placeHold",
        walletId: fromWalletId,
        amountWon: won(2n),
        dailyLimitWon: DAILY_LIMIT,
        toAddress: `0x${"c".repeat(40)}`,
      };
    case "open":
      return { kind: "openAccount", walletId: newId("wal"), userId: newId("req"), type: "NORMAL" };
    default:
      return transferOf(fromWalletId, newId("wal"), 1n);
  }
}

async function expectOrdered(orgId: string): Promise<void> {
  const { db } = ledger.database;
  const entries = await allEntries(orgId);
  const heads = await listHeads(db, null, 1_000);
  expect(heads.find((head) => head.orgId === orgId)!.lastSequence).toBe(BigInt(entries.length));
  expect(entries.map(({ orgSequence }) => orgSequence)).toEqual(entries.map((_, index) => BigInt(index + 1)));
  const last = new Map<string, bigint>();
  for (const { accountId, sequence } of entries.flatMap(({ postings }) => postings)) {
    expect(sequence).toBe((last.get(accountId) ?? 0n) + 1n);
    last.set(accountId, sequence);
  }
  const rows = await db.query<{ version: bigint; payload: Uint8Array }>(
    sql`select version, payload from outbox where org_id = ${orgId} order by id`,
  );
  const events = rows.map(({ payload }) => JournalPosted.decode(payload).entries);
  expect(rows.map(({ version }) => version)).toEqual(events.map((each) => each.at(-1)!.orgSequence));
  expect(events.flat().map(({ requestId }) => requestId)).toEqual(entries.map(({ requestId }) => requestId));
}

async function allEntries(orgId: string): Promise<Entry[]> {
  const all: Entry[] = [];
  for (;;) {
    const { entries } = await listJournal(ledger.database.db, orgId, BigInt(all.length), 500);
    all.push(...entries);
    if (entries.length < 500) return all;
  }
}
