import { sql } from "../db";
import { createTestDatabase, recordTerminal, type TestDatabase } from "../testing";
import { listDeadLetters } from ".";
import { main } from "./deadLettersCommand";

let testDatabase: TestDatabase;
beforeAll(async () => {
  testDatabase = await createTestDatabase({ schema: "sample" });
  await testDatabase.db.run(sql`
    insert into dead_letters (consumer_group, topic, partition, feed_number, message_key, event_type, headers, payload, digest, error, failures)
    values ('sample.settlements', 'wonrail.ledger.v1', 0, '7', 'wal_1', 'noted', '{}', '', '', 'the wallet does not exist', 5)`);
});
afterAll(() => testDatabase?.drop());

async function run(...args: string[]): Promise<{ code: number; out: string; err: string }> {
  const { terminal, output } = recordTerminal();
  const code = await main(args, terminal, { DATABASE_URL: testDatabase.url });
  return { code, ...output };
}

test("an operator in the service's pod lists dead letters and replays them", async () => {
  const { code, out } = await run("list", "--schema", "sample");
  expect(code).toBe(0);
  const letter = JSON.parse(out) as { id: string };
  expect(letter).toMatchObject({ type: "noted", error: "the wallet does not exist", state: "dead" });
  expect((await run("replay", "--schema", "sample", "--id", letter.id)).code).toBe(0);
  expect(await listDeadLetters(testDatabase.db)).toMatchObject([{ state: "replay_requested" }]);
  expect((await run("replay", "--schema", "sample", "--group", "sample.settlements")).code).toBe(1);
});

test("in the pod of another service the command names the right database", async () => {
  expect(await run("list", "--schema", "payment")).toEqual({
    code: 2,
    out: "",
    err: expect.stringMatching(WRONG) as string,
  });
});
const WRONG =
  /^The database at \S+ shows \S+ no schema payment .+ Set DATABASE_URL to the one for payment\.\n$/;

test.each([
  ["forget"],
  ["list"],
  ["replay", "--schema", "sample"],
  ["replay", "--schema", "sample", "--id", "x"],
  ["replay", "--schema", "sample", "--id", "0x1"],
  ["replay", "--schema", "sample", "--id", "9".repeat(23)],
])("a wrong command line prints the usage: %j", async (...args) => {
  expect(await run(...args)).toEqual({
    code: 2,
    out: "",
    err: expect.stringContaining("--schema SCHEMA") as string,
  });
});

test.each([["--help"], ["replay", "--schema", "sample", "--help"]])(
  "asked for help it gives it: %j",
  async (...args) => {
    expect(await run(...args)).toEqual({
      code: 0,
      out: expect.stringContaining("--schema SCHEMA") as string,
      err: "",
    });
  },
);
