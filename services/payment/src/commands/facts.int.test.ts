import { join } from "node:path";
import { sql } from "@wonrail/kit/db";
import { DomainError } from "@wonrail/kit/errors";
import { newId } from "@wonrail/kit/ids";
import { createTestDatabase, type TestDatabase } from "@wonrail/kit/testing";
import { createFacts, type FactsDeps } from "./facts";

let database: TestDatabase;
beforeAll(async () => {
  database = await createTestDatabase({ schema: "payment", migrations: join(__dirname, "../../migrations") });
});
afterAll(() => database.drop());

test("a policy is asked for once by all who need it, kept for a second, and asked for again after a failure", async () => {
  let nowMs = 0;
  let asked = 0;
  let away = false;
  const getOrganisation = () => {
    asked += 1;
    if (away) return Promise.reject(new DomainError("SYS_002"));
    const organisation = { dailyTransferLimitWon: "1000", incentiveRateBps: 100, version: 1n };
    return Promise.resolve({ organisation });
  };
  const facts = createFacts({
    db: database.db,
    auth: { getOrganisation } as unknown as FactsDeps["auth"],
    wallet: {} as FactsDeps["wallet"],
    contracts: { tokenAddress: "", paymentManagerAddress: "" },
    network: "N",
    now: () => nowMs,
  });
  const orgId = newId("org");
  const ask = (times: number) =>
    Promise.allSettled(Array.from({ length: times }, () => facts.policyOf(orgId)));

  away = true;
  expect((await ask(5)).map(({ status }) => status)).toEqual(Array(5).fill("rejected"));
  expect(asked).toBe(1);
  away = false;
  const policy = { orgId, dailyLimitWon: "1000", incentiveRateBps: 100, version: 1n };
  expect(await ask(5)).toEqual(Array(5).fill({ status: "fulfilled", value: policy }));
  expect(asked).toBe(2);

  // What has come by event meanwhile is in the database.
  await database.db.run(sql`update policies set incentive_rate_bps = 200`);
  nowMs = 999;
  expect(await facts.policyOf(orgId)).toEqual(policy);
  nowMs = 1_001;
  expect(await facts.policyOf(orgId)).toEqual({ ...policy, incentiveRateBps: 200 });
  expect(asked).toBe(2);
});
