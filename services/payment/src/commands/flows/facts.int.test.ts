import { join } from "node:path";
import { currentContext, runInContext } from "@wonrail/kit/context";
import { DomainError } from "@wonrail/kit/contract/errors";
import { newId } from "@wonrail/kit/contract/ids";
import { createTestDatabase, eventually, type TestDatabase, testLog } from "@wonrail/kit/testing";
import { findPolicy, savePolicy } from "../../store/policies";
import { createFacts, type FactsDeps } from "./facts";

let database: TestDatabase;
beforeAll(async () => {
  database = await createTestDatabase({
    schema: "payment",
    migrations: join(__dirname, "../../../migrations"),
  });
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
  const facts = factsOf(getOrganisation, () => nowMs);
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

test("a policy whose event is lost is asked for while it is in use, once a minute, and nobody waits for that", async () => {
  let nowMs = 0;
  const answers: ((said: { limit: string; version: bigint } | "away") => void)[] = [];
  const getOrganisation = () =>
    new Promise((resolve, reject) =>
      answers.push((said) =>
        said === "away"
          ? reject(new DomainError("SYS_002"))
          : resolve({
              organisation: {
                dailyTransferLimitWon: said.limit,
                incentiveRateBps: 100,
                version: said.version,
              },
            }),
      ),
    );
  const facts = factsOf(getOrganisation, () => nowMs);
  const orgId = newId("org");
  await savePolicy(database.db, { orgId, dailyLimitWon: "1000", incentiveRateBps: 100, version: 5n });
  const limit = async () => (await facts.policyOf(orgId)).dailyLimitWon;
  const at = (ms: number) => ((nowMs = ms), limit());

  // Auth does not answer yet.
  expect([await at(0), await at(1_001), await at(59_000)]).toEqual(["1000", "1000", "1000"]);
  expect(answers).toHaveLength(1);
  answers[0]!({ limit: "0", version: 6n });
  await eventually(async () => expect(await findPolicy(database.db, orgId)).toMatchObject({ version: 6n }));
  expect(await at(60_001)).toBe("0");

  // It was asked again, and is away: what is kept stays, and another minute goes by.
  expect(answers).toHaveLength(2);
  answers[1]!("away");
  expect([await at(62_000), await at(119_000)]).toEqual(["0", "0"]);
  expect(answers).toHaveLength(2);

  // What auth had said when a newer event came changes nothing.
  expect(await at(121_000)).toBe("0");
  expect(answers).toHaveLength(3);
  await savePolicy(database.db, { orgId, dailyLimitWon: "7", incentiveRateBps: 100, version: 8n });
  answers[2]!({ limit: "3", version: 7n });
  await new Promise((resolve) => setTimeout(resolve, 50));
  expect(await at(123_000)).toBe("7");
});

test.each([
  ["whose version auth has not come to", { version: 2n ** 62n, dailyLimitWon: "9" }],
  [
    "of a change that auth has lost, and whose version is another one's now",
    { version: 6n, dailyLimitWon: "9" },
  ],
])("a policy %s is auth's within a minute", async (_, said) => {
  let nowMs = 0;
  const organisation = { dailyTransferLimitWon: "0", incentiveRateBps: 100, version: 6n };
  const facts = factsOf(
    async () => ({ organisation }),
    () => nowMs,
  );
  const orgId = newId("org");
  await savePolicy(database.db, { orgId, incentiveRateBps: 10_000, ...said });
  expect(await facts.policyOf(orgId)).toMatchObject(said);
  const told = { orgId, dailyLimitWon: "0", incentiveRateBps: 100, version: 6n };
  await eventually(async () => expect(await findPolicy(database.db, orgId)).toEqual(told));
  nowMs = 1_001;
  expect(await facts.policyOf(orgId)).toEqual(told);
});

test("of many organisations in use at once four are asked about at a time", async () => {
  const answers: (() => void)[] = [];
  const organisation = { dailyTransferLimitWon: "1000", incentiveRateBps: 100, version: 1n };
  const getOrganisation = () => new Promise((resolve) => answers.push(() => resolve({ organisation })));
  let nowMs = 0;
  const facts = factsOf(getOrganisation, () => nowMs);
  const orgIds = Array.from({ length: 10 }, () => newId("org"));
  for (const orgId of orgIds)
    await savePolicy(database.db, { orgId, dailyLimitWon: "1000", incentiveRateBps: 100, version: 1n });
  const useAll = () => Promise.all(orgIds.map((orgId) => facts.policyOf(orgId)));
  const asked: number[] = [];
  for (; nowMs < 8_000; nowMs += 2_000) {
    await useAll();
    asked.push(answers.length);
    answers.forEach((answer) => answer());
    await new Promise((resolve) => setImmediate(resolve));
  }
  expect(asked).toEqual([4, 8, 10, 10]);
});

function factsOf(getOrganisation: () => Promise<unknown>, monotonicMs: () => number) {
  return createFacts({
    db: database.db,
    log: testLog(),
    auth: { getOrganisation } as unknown as FactsDeps["auth"],
    wallet: {} as FactsDeps["wallet"],
    contracts: { tokenAddress: "", paymentManagerAddress: "" },
    network: "N",
    monotonicMs,
  });
}

test("whose wallet is at an address is known for one organisation only", async () => {
  const [own, other] = [newId("org"), newId("org")];
  const asked: string[] = [];
  const findWalletsByAddress = ({ orgId }: { orgId: string }) => {
    asked.push(orgId);
    return Promise.resolve({ wallets: orgId === own ? [{ walletId: "wal_1" }] : [] });
  };
  const facts = createFacts({
    db: database.db,
    log: testLog(),
    auth: {} as FactsDeps["auth"],
    wallet: { findWalletsByAddress } as unknown as FactsDeps["wallet"],
    contracts: { tokenAddress: "", paymentManagerAddress: "" },
    network: "N",
    monotonicMs: () => 0,
  });
  const at = (orgId: string) => facts.walletAt(orgId, "0x1");
  expect([await at(own), await at(other), await at(own), await at(other)]).toEqual([
    ...["wal_1", null, "wal_1", null],
  ]);
  expect(asked).toEqual([own, other, other]);
});
