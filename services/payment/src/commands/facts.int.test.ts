import { join } from "node:path";
import { currentContext, runInContext } from "@wonrail/kit/context";
import { DomainError } from "@wonrail/kit/errors";
import { newId } from "@wonrail/kit/ids";
import { createTestDatabase, type TestDatabase } from "@wonrail/kit/testing";
import { savePolicy } from "../store/policies";
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
    // Who asks first has less time left than others who wait for the same answer.
    expect(currentContext()).toMatchObject({ requestId: "req_1" });
    expect(currentContext()).not.toHaveProperty("deadlineMs");
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
  const context = { requestId: "req_1", traceparent: "", deadlineMs: 1 };
  const ask = (times: number) =>
    runInContext(context, () =>
      Promise.allSettled(Array.from({ length: times }, () => facts.policyOf(orgId))),
    );

  away = true;
  expect((await ask(5)).map(({ status }) => status)).toEqual(Array(5).fill("rejected"));
  expect(asked).toBe(1);
  away = false;
  const policy = { orgId, dailyLimitWon: "1000", incentiveRateBps: 100, version: 1n };
  expect(await ask(5)).toEqual(Array(5).fill({ status: "fulfilled", value: policy }));
  expect(asked).toBe(2);

  // What has come by event meanwhile is in the database.
  await savePolicy(database.db, { ...policy, incentiveRateBps: 200, version: 2n });
  nowMs = 999;
  expect(await facts.policyOf(orgId)).toEqual(policy);
  nowMs = 1_001;
  expect(await facts.policyOf(orgId)).toEqual({ ...policy, incentiveRateBps: 200, version: 2n });
  expect(asked).toBe(2);
});

test("whose wallet is at an address is known for one organisation only", async () => {
  const [own, other] = [newId("org"), newId("org")];
  const asked: string[] = [];
  const findWalletsByAddress = ({ orgId }: { orgId: string }) => {
    asked.push(orgId);
    return Promise.resolve({ wallets: orgId === own ? [{ walletId: "wal_1" }] : [] });
  };
  const facts = createFacts({
    db: database.db,
    auth: {} as FactsDeps["auth"],
    wallet: { findWalletsByAddress } as unknown as FactsDeps["wallet"],
    contracts: { tokenAddress: "", paymentManagerAddress: "" },
    network: "N",
    now: () => 0,
  });
  const at = (orgId: string) => facts.walletAt(orgId, "0x1");
  expect([await at(own), await at(other), await at(own), await at(other)]).toEqual([
    ...["wal_1", null, "wal_1", null],
  ]);
  expect(asked).toEqual([own, other, other]);
});
