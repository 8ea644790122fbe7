import { sql, tx } from "../db";
import { createTestDatabase, type TestDatabase } from "../testing";
import { claimKey, deleteOldKeys, type KeyedRequest, once, saveAnswer } from ".";

let database: TestDatabase;
beforeAll(async () => {
  database = await createTestDatabase({ schema: "sample" });
});
afterAll(() => database.drop());

let keys = 0;
function request(more: Partial<KeyedRequest> = {}): KeyedRequest {
  keys += 1;
  const own = { orgId: "org_1", operation: "make", key: `key ${keys}`, requestHash: Buffer.alloc(32, 1) };
  return { ...own, ...more };
}

/** Writes a row as its effect, with the number of this call as its answer. */
let calls = 0;
function make(of: KeyedRequest | undefined, work?: () => Promise<void>) {
  return tx(database.db, (tx) =>
    once(tx, of, async () => {
      calls += 1;
      const call = calls;
      await tx.run(sql`
        insert into inbox (consumer_group, event_id) values (${of?.key ?? "no key"}, gen_random_uuid())`);
      await work?.();
      return { call };
    }),
  );
}

async function effects(name: string): Promise<number> {
  const { count } = await database.db.one<{ count: bigint }>(
    sql`select count(*) as count from inbox where consumer_group = ${name}`,
  );
  return Number(count);
}

test("a repetition gets the stored answer, and the effect happens once", async () => {
  const of = request();
  const first = await make(of);
  expect(first.replayed).toBe(false);
  expect(await make(of)).toEqual({ answer: first.answer, replayed: true });
  expect(await effects(of.key)).toBe(1);
});

test("another request under the same key is REQ_003", async () => {
  const of = request();
  await make(of);
  await expect(make({ ...of, requestHash: Buffer.alloc(32, 2) })).rejects.toMatchObject({ code: "REQ_003" });
  expect(await effects(of.key)).toBe(1);
});

test("each organisation and each operation has its own keys", async () => {
  const of = request();
  for (const other of [of, { ...of, orgId: "org_2" }, { ...of, operation: "undo" }])
    expect((await make(other)).replayed).toBe(false);
});

test("a failure leaves the key free", async () => {
  const of = request();
  await expect(make(of, () => Promise.reject(new Error("refused")))).rejects.toThrow("refused");
  expect((await make(of)).replayed).toBe(false);
  expect(await effects(of.key)).toBe(1);
});

test("twenty concurrent requests with one key have one effect and one answer", async () => {
  const of = request();
  const answers = await Promise.all(Array.from({ length: 20 }, () => make(of)));
  expect(new Set(answers.map(({ answer }) => answer.call)).size).toBe(1);
  expect(answers.filter(({ replayed }) => !replayed)).toHaveLength(1);
  expect(await effects(of.key)).toBe(1);
});

test("a request without a key is executed each time", async () => {
  await make(undefined);
  expect((await make(undefined)).replayed).toBe(false);
  expect(await effects("no key")).toBe(2);
});

test("an operation in several transactions keeps its key without an answer, then its first answer", async () => {
  const of = request();
  const claim = () => tx(database.db, (tx) => claimKey(tx, of));
  expect(await claim()).toBeUndefined();
  expect(await claim()).toEqual({ answer: undefined });
  for (const name of ["first", "second"]) await tx(database.db, (tx) => saveAnswer(tx, of, { name }));
  expect(await claim()).toEqual({ answer: { name: "first" } });
});

test("keys are kept for 31 days", async () => {
  const [old, young] = [request(), request()];
  for (const [of, days] of [[old, 33] as const, [young, 31] as const]) {
    await make(of);
    await database.db.run(sql`
      update idempotency_keys set stored_at = now() - ${days} * interval '1 day' where key = ${of.key}`);
  }
  await deleteOldKeys(database.db, new AbortController().signal);
  expect([(await make(old)).replayed, (await make(young)).replayed]).toEqual([false, true]);
});
