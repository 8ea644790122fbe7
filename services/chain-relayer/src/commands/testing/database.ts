import { join } from "node:path";
import { type Database } from "@wonrail/kit/db";
import { createTestDatabase, type TestDatabase } from "@wonrail/kit/testing";

/** A database of its own for each test of the file that asks for it. */
export function freshDatabase(): { readonly db: Database } {
  let database: TestDatabase;
  beforeEach(async () => {
    database = await createTestDatabase({
      schema: "chain_relayer",
      migrations: join(__dirname, "../../../migrations"),
    });
  });
  afterEach(() => database.drop());
  return {
    get db() {
      return database.db;
    },
  };
}
