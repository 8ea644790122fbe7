import { newId } from "@wonrail/kit/contract/ids";
import { sql } from "@wonrail/kit/db";
import { openTestDatabase, testLog } from "@wonrail/kit/testing";
import { chargeOf } from "../domain/testing/requests";
import { findByKey } from "../queries/findByKey";
import { addOldMonths } from "./testing/oldMonths";
import {
  answerTo,
  balancesOf,
  codeOf,
  keyOfBody,
  postTo,
  requestOf,
  soundLedger,
  testEngine,
} from "./testing/ledger";
import { pruneKeys } from "./pruneKeys";

const ledger = soundLedger();
const DAY_MS = 24 * 3_600_000;

const keyed = (walletId: string, key: string, amount = 100n, body = "body") =>
  requestOf(ledger.orgId, chargeOf(walletId, amount), { key: keyOfBody(key, body) });

test("fifty attempts under one key through two replicas have one effect and one answer", async () => {
  const db = openTestDatabase(ledger.database.url, "ledger");
  const second = testEngine({ db });
  const walletId = await ledger.open();
  const answers = await Promise.all(
    Array.from({ length: 50 }, (_, index) =>
      answerTo(index % 2 === 0 ? ledger.engine : second, keyed(walletId, "many")),
    ),
  );
  expect(answers.filter(({ replayed }) => !replayed)).toHaveLength(1);
  for (const { outcome } of answers) expect(outcome).toEqual(answers[0]!.outcome);
  expect(await balancesOf(ledger, [walletId])).toEqual([100n]);
  await second.close();
  await db.close();
});

test("many new keys that two replicas post in opposite orders have one effect each", async () => {
  const db = openTestDatabase(ledger.database.url, "ledger");
  const second = testEngine({ db });
  const walletId = await ledger.open();
  for (let round = 0; round < 5; round += 1) {
    const keys = Array.from({ length: 40 }, (_, index) => `round ${round} key ${index}`);
    const post = (engine: typeof second, names: string[]) =>
      Promise.all(names.map((key) => postTo(engine, keyed(walletId, key, 1n))));
    const [first, other] = await Promise.all([post(ledger.engine, keys), post(second, [...keys].reverse())]);
    expect([...other].reverse()).toEqual(first);
  }
  expect(await balancesOf(ledger, [walletId])).toEqual([200n]);
  await second.close();
  await db.close();
});

test("a key belongs to one organisation and scope, and another body under it is refused and not stored", async () => {
  const walletId = await ledger.open();
  expect(codeOf(await postTo(ledger.engine, keyed(walletId, "own")))).toBe("posted");
  expect(await answerTo(ledger.engine, keyed(walletId, "own", 100n, "other body"))).toEqual({
    outcome: { status: "refused", code: "REQ_003", details: null },
    replayed: false,
  });
  const elsewhere = requestOf(ledger.orgId, chargeOf(walletId, 7n), {
    key: keyOfBody("own", "body", "TRANSFER"),
  });
  expect(codeOf(await postTo(ledger.engine, elsewhere))).toBe("posted");
  expect(await findByKey(ledger.database.db, newId("org"), { scope: "PAY", key: "own" })).toBeUndefined();
  expect(await balancesOf(ledger, [walletId])).toEqual([107n]);
});

test("a refusal is stored under its key and replayed although the request would succeed now", async () => {
  const missing = newId("wal");
  const refused = keyed(missing, "early");
  expect(codeOf(await postTo(ledger.engine, refused))).toBe("WAL_002");
  await ledger.post({ kind: "openAccount", walletId: missing, userId: "early", type: "NORMAL" });
  expect(await answerTo(ledger.engine, keyed(missing, "early"))).toMatchObject({
    outcome: { code: "WAL_002" },
    replayed: true,
  });
});

test("keys older than 32 days are pruned, and a request id still replays its entry", async () => {
  const { db } = ledger.database;
  const walletId = await ledger.open();
  const request = keyed(walletId, "old");
  await postTo(ledger.engine, request);
  const now = Date.now();
  expect(await pruneKeys({ db, log: testLog() }, undefined, now + 31 * DAY_MS)).toBe(0);
  expect(await findByKey(db, ledger.orgId, request.key!)).toBeDefined();
  expect(await pruneKeys({ db, log: testLog() }, undefined, now + 33 * DAY_MS)).toBeGreaterThan(0);
  expect(await findByKey(db, ledger.orgId, request.key!)).toBeUndefined();
  expect((await answerTo(ledger.engine, request)).replayed).toBe(true);
  expect(await balancesOf(ledger, [walletId])).toEqual([100n]);
});

test("a month stays attached while a key of its requests is stored", async () => {
  const fromMs = await addOldMonths(ledger.database.ownerUrl);
  const walletId = await ledger.open();
  const request = { ...keyed(walletId, "scheduled long ago"), requestId: newId("trf", fromMs + DAY_MS) };
  expect(codeOf(await postTo(ledger.engine, request))).toBe("posted");
  const owner = openTestDatabase(ledger.database.ownerUrl, "ledger");
  await expect(owner.query(sql`select detach_oldest_journal_partition()`)).rejects.toThrow(
    /1 requests whose idempotency keys are still kept/,
  );
  await owner.close();
});
