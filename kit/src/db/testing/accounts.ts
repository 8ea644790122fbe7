import { createTestDatabase, openTestDatabase, type TestDatabase } from "../../testing";
import { sql } from "..";

export interface Accounts extends TestDatabase {
  balanceOf(id: number): Promise<bigint>;
}

/** A database for all tests of a file. Before each, four accounts have a hundred. */
export function fourAccounts(): Accounts {
  const test = {} as Accounts;
  beforeAll(async () => {
    Object.assign(test, await createTestDatabase({ schema: "sample" }));
    const owner = openTestDatabase(test.ownerUrl, "sample");
    await owner.run(sql`create table accounts (id integer primary key, balance bigint not null)`);
    await owner.close();
  });
  afterAll(() => test.drop());
  beforeEach(async () => {
    await test.db.run(sql`delete from accounts`);
    await test.db.run(sql`insert into accounts select id, 100 from generate_series(1, 4) as id`);
  });
  test.balanceOf = async (id) =>
    (await test.db.one<{ balance: bigint }>(sql`select balance from accounts where id = ${id}`)).balance;
  return test;
}

export const plusOne = (id: number) => sql`update accounts set balance = balance + 1 where id = ${id}`;
