import { join } from "node:path";
import { sql } from "@wonrail/kit/db";
import { won } from "@wonrail/kit/contract/money";
import { createTestDatabase, type TestDatabase } from "@wonrail/kit/testing";
import { OrganisationChanged } from "@wonrail/proto/auth/events/v1/events";
import { OrganisationStatus } from "@wonrail/proto/auth/v1/auth";
import { createOperations, type Operations } from "../app";

let database: TestDatabase;
let auth: Operations;

beforeAll(async () => {
  database = await createTestDatabase({ schema: "auth", migrations: join(__dirname, "../../migrations") });
  const rules = { keyMode: "test" as const, keyLifetimeMs: 3_600_000, keyOverlapMs: 0 };
  auth = createOperations({ db: database.db, ...rules });
});
afterAll(() => database.drop());

test("each change publishes one event with the new terms and the next version", async () => {
  const actor = "operator:test";
  const { organisation } = await auth.createOrganisation({ name: "A bank", code: "ONE", actor });
  await auth.createOrganisation({ name: "Another", code: "TWO", actor });
  await auth.setOrganisation({ code: "ONE", change: { dailyTransferLimitWon: won(1_000n) }, actor });
  await auth.setOrganisation({ code: "ONE", change: { status: "SUSPENDED", incentiveRateBps: 30 }, actor });
  await auth.rotateSecretKey({ code: "ONE", actor });

  const rows = await database.db.query<{ version: bigint; payload: Buffer }>(sql`
    select version, payload from outbox where aggregate_id = ${organisation.orgId} order by id`);
  const published = rows.map(({ version, payload }) => {
    const { dailyTransferLimitWon, incentiveRateBps, status, ...rest } =
      OrganisationChanged.decode(payload).organisation!;
    expect(rest).toMatchObject({ orgId: organisation.orgId, version });
    return [version, dailyTransferLimitWon, incentiveRateBps, status];
  });
  expect(published).toEqual([
    [1n, "5000000", 0, OrganisationStatus.ACTIVE],
    [2n, "1000", 0, OrganisationStatus.ACTIVE],
    [3n, "1000", 30, OrganisationStatus.SUSPENDED],
    [4n, "1000", 30, OrganisationStatus.SUSPENDED],
  ]);
  expect((await auth.findOrganisation({ code: "TWO" })).organisation).toMatchObject({
    name: "Another",
    status: "ACTIVE",
    version: 1n,
  });
});
