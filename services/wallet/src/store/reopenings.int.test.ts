import { join } from "node:path";
import { sql } from "@wonrail/kit/db";
import { newId } from "@wonrail/kit/contract/ids";
import { createTestDatabase, type TestDatabase } from "@wonrail/kit/testing";
import { listReopenings } from "./reopenings";

let database: TestDatabase;
beforeAll(async () => {
  database = await createTestDatabase({ schema: "wallet", migrations: join(__dirname, "../../migrations") });
});
afterAll(() => database.drop());

test("the oldest requests come first, in any order of ids", async () => {
  const orgIds = [newId("org"), newId("org"), newId("org")];
  for (const [index, hoursAgo] of [1, 3, 2].entries()) await ask(orgIds[index]!, hoursAgo);
  const listed = await listReopenings(database.db, 2);
  expect(listed.map(({ orgId }) => orgId)).toEqual([orgIds[1], orgIds[2]]);
});

async function ask(orgId: string, hoursAgo: number): Promise<void> {
  const walletId = newId("wal");
  await database.db.run(sql`
    insert into wallets (org_id, wallet_id, user_id, wallet_type, address, key_index, status)
    values (${orgId}, ${walletId}, 'kim', 'NORMAL', ${`0x${walletId.slice(-8).repeat(5)}`}, 0, 'DEACTIVATED')`);
  await database.db.run(sql`
    insert into reopenings (org_id, wallet_id, request_id, operator, asked_at)
    values (${orgId}, ${walletId}, ${newId("opn")}, 'operator:tester', now() - make_interval(hours => ${hoursAgo}))`);
}
