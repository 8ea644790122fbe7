import { join } from "node:path";
import { sql, tx } from "@wonrail/kit/db";
import { won } from "@wonrail/kit/contract/money";
import { createTestDatabase, openTestDatabase, type TestDatabase } from "@wonrail/kit/testing";
import { stayWithinOneHour, untilWaiting } from "../commands/testing/moments";
import { deleteOldVelocity, lockVelocity, saveVelocity } from "./velocity";

let database: TestDatabase;

beforeEach(async () => {
  database = await createTestDatabase({ schema: "wallet", migrations: join(__dirname, "../../migrations") });
  await stayWithinOneHour(database.db, 20_000);
});
afterEach(() => database.drop());

test("the second of two spenders of a scope waits and continues from the first sum", async () => {
  await spend("all", 1n);
  let second: Promise<void> | undefined;
  await tx(database.db, async (tx) => {
    const { used } = await lockVelocity(tx, ["org/a", "all"]);
    second = spend("all", 20n);
    await untilWaiting(database.db, 1);
    await saveVelocity(tx, used.set("all", won(used.get("all")! + 300n)));
  });
  await second;
  expect(await sums()).toEqual(["all 321", "org/a 0"]);
});

test("a transaction that waits for the first scope holds no lock on the others", async () => {
  for (const scope of ["org/b", "org/a", "all"]) await spend(scope, 1n);
  // The planner then knows that the table is small.
  const owner = openTestDatabase(database.ownerUrl, "wallet", { max: 1 });
  await owner.run(sql`analyze velocity`);
  await owner.close();
  let waiting: Promise<unknown> | undefined;
  await tx(database.db, async (tx) => {
    await tx.run(sql`select from velocity where scope = 'all' for update`);
    waiting = spend("all", 1n, "org/b", "org/a");
    await untilWaiting(database.db, 1);
    const free = await tx.run(sql`select from velocity where scope <> 'all' for update skip locked`);
    expect(free).toBe(2);
  });
  await waiting;
});

test("sums of separate hours are independent, and those older than two days are deleted", async () => {
  await spend("all", 5n);
  await database.db.run(sql`
    insert into velocity (scope, hour, amount_won)
    select 'all', date_trunc('hour', now()) + h * interval '1 hour', 1000 + h from unnest(array[-49, -1, 1]) as h`);
  await spend("all", 20n);
  expect(await sums()).toEqual(["all 951", "all 999", "all 25", "all 1001"]);
  expect(await tx(database.db, (tx) => deleteOldVelocity(tx, 10))).toBe(1);
  expect(await sums()).toEqual(["all 999", "all 25", "all 1001"]);
});

test("old hours are deleted in batches, oldest first, and two deletions do not wait for each other", async () => {
  await database.db.run(sql`
    insert into velocity (scope, hour, amount_won)
    select 'all', date_trunc('hour', now()) - h * interval '1 hour', h from generate_series(49, 53) as h`);
  await tx(database.db, async (first) => {
    expect(await deleteOldVelocity(first, 2)).toBe(2);
    expect(await tx(database.db, (second) => deleteOldVelocity(second, 2))).toBe(2);
  });
  expect(await sums()).toEqual(["all 49"]);
});

async function spend(scope: string, amountWon: bigint, ...alsoLocked: string[]): Promise<void> {
  await tx(database.db, async (tx) => {
    const { used } = await lockVelocity(tx, [...alsoLocked, scope]);
    await saveVelocity(tx, new Map([[scope, won(used.get(scope)! + amountWon)]]));
  });
}

async function sums(): Promise<string[]> {
  const rows = await database.db.query<{ scope: string; amount_won: bigint }>(
    sql`select scope, amount_won from velocity order by scope, hour`,
  );
  return rows.map((row) => `${row.scope} ${row.amount_won}`);
}
