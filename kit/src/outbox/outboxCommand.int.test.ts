import { sql, tx } from "../db";
import { createTestDatabase, hearTerminal, type TestDatabase } from "../testing";
import { appendEvents } from ".";
import { main } from "./outboxCommand";

let testDatabase: TestDatabase;
beforeAll(async () => {
  testDatabase = await createTestDatabase({ schema: "sample" });
  const noted = (version: number) => ({
    topic: "wonrail.sample.v1",
    type: "noted",
    aggregateId: "a",
    version,
    orgId: "org_1",
    payload: Buffer.alloc(0),
  });
  await tx(testDatabase.db, (tx) => appendEvents(tx, [1, 2, 3].map(noted)));
  await testDatabase.db.run(
    sql`update outbox set occurred_at = now() - interval '2 hours' where version = 1`,
  );
  await testDatabase.db.run(sql`delete from outbox_pending`);
});
afterAll(() => testDatabase?.drop());

async function run(...args: string[]): Promise<{ code: number; out: string; err: string }> {
  const { terminal, said } = hearTerminal();
  const code = await main(args, terminal, { DATABASE_URL: testDatabase.url });
  return { code, ...said };
}

test("what was published since then goes out again, once", async () => {
  const since = new Date(Date.now() - 3_600_000).toISOString();
  expect(await run("republish", "--schema", "sample", "--since", since)).toMatchObject({
    code: 0,
    out: expect.stringMatching(/^2 events go out again/) as string,
  });
  expect(await run("republish", "--schema", "sample", "--since", since)).toMatchObject({
    out: expect.stringMatching(/^0 events/) as string,
  });
});

test("in the pod of another service it says whose database that is not", async () => {
  expect(await run("republish", "--schema", "payment", "--since", "2026-11-23T04:00:00Z")).toEqual({
    code: 2,
    out: "",
    err: expect.stringContaining("no schema payment") as string,
  });
});

test.each([
  [[]],
  [["republish"]],
  [["republish", "--schema", "sample"]],
  [["republish", "--schema", "sample", "--since", "yesterday"]],
  [["republish", "--schema", "sample", "--since", "1"]],
  [["republish", "--schema", "sample", "--since", "2026-11-23T04:00:00"]],
  [["republish", "--schema", "sample", "--since", "2026-11-31"]],
  [["forget", "--schema", "sample", "--since", "2026-11-23"]],
  [["republish", "--schema", "sample", "--since", "2026-11-23", "--all"]],
])("%j says how it is used, and changes nothing", async (args) => {
  const pending = sql`select count(*) as count from outbox_pending`;
  const before = await testDatabase.db.one(pending);
  expect(await run(...args)).toEqual({
    code: 2,
    out: "",
    err: expect.stringContaining("outbox.mjs republish") as string,
  });
  expect(await testDatabase.db.one(pending)).toEqual(before);
});

test("asked for help it gives it", async () => {
  expect(await run("--help")).toEqual({
    code: 0,
    out: expect.stringContaining("outbox.mjs republish") as string,
    err: "",
  });
});
