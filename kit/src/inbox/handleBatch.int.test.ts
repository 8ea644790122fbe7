import { rawSql, sql, type Tx } from "../db";
import { DomainError } from "../contract/errors";
import { Registry } from "../metrics";
import { pause } from "../pause";
import { createTestDatabase, eventually, openTestDatabase, testLog, type TestDatabase } from "../testing";
import { listDeadLetters, type EventHandler, type ReceivedEvent } from ".";
import { consumerMetrics } from "./consumerMetrics";
import { handleBatch, type Consumer } from "./handleBatch";
import { messageOf } from "./testing/messageOf";

let test: TestDatabase;
let registry: Registry;

beforeEach(async () => {
  test = await createTestDatabase({ schema: "sample" });
  registry = new Registry();
  await asOwner("create table effects (position bigint generated always as identity, what text not null)");
});
afterEach(() => test.drop());

async function asOwner(...statements: string[]): Promise<void> {
  const owner = openTestDatabase(test.ownerUrl, "sample");
  for (const statement of statements) await owner.run(rawSql(statement));
  await owner.close();
}

function consumerOf(handlers: Record<string, EventHandler>, aloneMs: number, group = "wallet"): Consumer {
  const spec = { group, topics: ["wonrail.auth.v1"], handlers };
  return {
    db: test.db,
    spec,
    log: testLog(),
    metrics: consumerMetrics(registry, spec.group),
    rest: pause(),
    aloneMs,
  };
}

const note = async (tx: Tx, { payload }: ReceivedEvent) => {
  await tx.run(sql`insert into effects (what) values (${payload.toString()})`);
};
const effects = async () =>
  (await test.db.query<{ what: string }>(sql`select what from effects order by position`)).map(
    ({ what }) => what,
  );
const outcome = async (name: string) =>
  Number(new RegExp(`outcome="${name}"} (\\d+)`).exec(await registry.metrics())?.[1] ?? 0);

it("what is behind a long trouble goes back to the bus, and has its effect once and in order when it comes again", async () => {
  let away = true;
  let poisonTries = 0;
  const handlers = {
    noted: note,
    poison: async () => {
      poisonTries += 1;
      throw new TypeError("cannot read properties of undefined");
    },
    far: async (tx: Tx, event: ReceivedEvent) => {
      if (away) throw new DomainError("SYS_002");
      await note(tx, event);
    },
  };
  const consumer = consumerOf(handlers, 200);
  const batch = [
    messageOf("noted", "1"),
    messageOf("poison", "2"),
    messageOf("far", "3"),
    messageOf("noted", "4"),
  ];
  await expect(handleBatch(consumer, batch)).rejects.toMatchObject({ code: "SYS_002" });
  await expect(handleBatch(consumer, batch)).rejects.toMatchObject({ code: "SYS_002" });
  expect(await effects()).toEqual(["1"]);
  away = false;
  await handleBatch(consumer, batch);
  expect(await effects()).toEqual(["1", "3", "4"]);
  // Once with the others and once alone: from then on the inbox knows it.
  expect(poisonTries).toBe(2);
  expect(await listDeadLetters(test.db)).toMatchObject([{ type: "poison", failures: 1 }]);
  expect(await outcome("processed")).toBe(3);
});

it("a batch that takes longer one by one than it may is done in parts, and none of them begins with what was done before", async () => {
  // Whatever is put into the inbox takes its time, also what is there already.
  await asOwner(
    "create function slow() returns trigger language plpgsql as $$ begin perform pg_sleep(0.05); return new; end $$",
    "create trigger slow before insert on inbox for each row execute function slow()",
  );
  const poison = async () => {
    throw new DomainError("WAL_002");
  };
  const consumer = consumerOf({ noted: note, poison }, 150);
  const texts = Array.from({ length: 10 }, (_, index) => `${index}`);
  const batch = [...texts.map((text) => messageOf("noted", text)), messageOf("poison", "10")];
  let deliveries = 0;
  await eventually(async () => {
    deliveries += 1;
    await handleBatch(consumer, batch);
  });
  expect(deliveries).toBeGreaterThan(1);
  expect(await effects()).toEqual(texts);
  expect(await listDeadLetters(test.db)).toHaveLength(1);
});

it("a database that is away is the bus's to wait for", async () => {
  const consumer = consumerOf({ noted: note }, 60_000);
  const gone = openTestDatabase("postgres://nobody@127.0.0.1:1/none", "sample");
  await expect(handleBatch({ ...consumer, db: gone }, [messageOf("noted", "1")])).rejects.toMatchObject({
    code: "SYS_002",
  });
  await gone.close();
  expect(await outcome("retried")).toBe(1);
  await handleBatch(consumer, [messageOf("noted", "1")]);
  expect(await effects()).toEqual(["1"]);
});

it("what another group has had is still to be had, also when a batch goes one by one", async () => {
  const poison = async () => {
    throw new DomainError("WAL_002");
  };
  const batch = [messageOf("noted", "1"), messageOf("poison", "2"), messageOf("noted", "3")];
  for (const group of ["payment", "wallet"]) {
    await handleBatch(consumerOf({ noted: note, poison }, 60_000, group), batch);
  }
  expect(await effects()).toEqual(["1", "3", "1", "3"]);
  expect(await listDeadLetters(test.db)).toMatchObject([{ group: "wallet" }, { group: "payment" }]);
});
