import { sql, tx } from "../db";
import { createTestDatabase, openTestDatabase, type TestDatabase } from ".";

describe("createTestDatabase", () => {
  let first: TestDatabase;
  let second: TestDatabase;

  beforeAll(async () => {
    [first, second] = await Promise.all([
      createTestDatabase({ schema: "sample" }),
      createTestDatabase({ schema: "sample" }),
    ]);
  });
  afterAll(() => Promise.all([first?.drop(), second?.drop()]));

  it("gives each caller its own database with the kit's tables", async () => {
    await tx(first.db, (tx) => tx.run(sql`insert into outbox_pending (id) values (${1n})`));
    const count = sql`select count(*) from outbox_pending`;
    expect(await first.db.one(count)).toEqual({ count: 1n });
    expect(await second.db.one(count)).toEqual({ count: 0n });
  });

  it("connects as the service's role, which may not change the schema", async () => {
    await expect(first.db.run(sql`create table mine (id int)`)).rejects.toThrow("permission denied");
    await expect(first.db.run(sql`drop table outbox`)).rejects.toThrow("must be owner");
    const owner = openTestDatabase(first.ownerUrl, "sample");
    await owner.run(sql`create table mine (id int)`);
    await owner.close();
    expect(await first.db.query(sql`select id from mine`)).toEqual([]);
  });
});
