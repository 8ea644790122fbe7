import { sql, type Tx } from "../db";
import { DomainError } from "../contract/errors";
import { Registry } from "../metrics";
import { createPause } from "../pause";
import { createTestDatabase, openTestDatabase, testLog, type TestDatabase } from "../testing";
import { listDeadLetters, replayDeadLetters, type ReceivedEvent } from ".";
import { consumerMetrics } from "./consumerMetrics";
import type { EventHandler } from "./events";
import { applyBatch, type Consumer } from "./applyBatch";
import { replayRequested } from "./replay";
import { messageOf } from "./testing/messageOf";

let test: TestDatabase;

beforeEach(async () => {
  test = await createTestDatabase({ schema: "sample" });
  const owner = openTestDatabase(test.ownerUrl, "sample");
  await owner.run(
    sql`create table effects (position bigint generated always as identity, what text not null)`,
  );
  await owner.close();
});
afterEach(() => test.drop());

function consumerOf(group: string, noted: EventHandler): Consumer {
  return {
    db: test.db,
    spec: { group, topics: ["wonrail.auth.v1"], handlers: { noted } },
    log: testLog(),
    metrics: consumerMetrics(new Registry(), group),
    rest: createPause(),
    startedAt: new Date(),
    aloneMs: 60_000,
  };
}

const refuse = async () => {
  throw new DomainError("WAL_002");
};
const noteFor =
  (group: string) =>
  async (tx: Tx, { payload }: ReceivedEvent) => {
    await tx.run(sql`insert into effects (what) values (${`${group} ${payload.toString()}`})`);
    // Other replicas look for letters while this one is working.
    await tx.run(sql`select pg_sleep(0.05)`);
  };
const effects = async () =>
  (await test.db.query<{ what: string }>(sql`select what from effects order by position`)).map(
    ({ what }) => what,
  );

it("a requested letter has one effect when several replicas look for it", async () => {
  const letters = ["1", "2", "3"].map((text) => messageOf("noted", text));
  await applyBatch(consumerOf("wallet", refuse), letters, { kind: "kafka" });
  expect(await replayDeadLetters(test.db, { group: "wallet" })).toBe(3);
  const replicas = [1, 2, 3].map(() => consumerOf("wallet", noteFor("wallet")));
  const replayed = await Promise.all(replicas.map(replayRequested));
  expect((await effects()).sort()).toEqual(["wallet 1", "wallet 2", "wallet 3"]);
  expect(replayed.reduce((sum, each) => sum + each, 0)).toBe(3);
});

it("a letter belongs to its group, although another group has a handler for it", async () => {
  await applyBatch(consumerOf("wallet", refuse), [messageOf("noted", "1")], { kind: "kafka" });
  await replayDeadLetters(test.db, { group: "wallet" });
  expect(await replayRequested(consumerOf("payment", noteFor("payment")))).toBe(0);
  expect(await replayRequested(consumerOf("wallet", noteFor("wallet")))).toBe(1);
  expect(await effects()).toEqual(["wallet 1"]);
});

it("a letter stays requested while a dependency is away", async () => {
  await applyBatch(consumerOf("wallet", refuse), [messageOf("noted", "1")], { kind: "kafka" });
  await replayDeadLetters(test.db, { group: "wallet" });
  const away = consumerOf("wallet", async () => {
    throw new DomainError("SYS_002");
  });
  await expect(replayRequested(away)).rejects.toMatchObject({ code: "SYS_002" });
  expect(await listDeadLetters(test.db)).toMatchObject([{ state: "replay_requested", failures: 1 }]);
  expect(await replayRequested(consumerOf("wallet", noteFor("wallet")))).toBe(1);
  expect(await effects()).toEqual(["wallet 1"]);
});
