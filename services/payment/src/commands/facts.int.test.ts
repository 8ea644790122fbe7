import { join } from "node:path";
import { currentContext, runInContext } from "@wonrail/kit/context";
import { DomainError } from "@wonrail/kit/contract/errors";
import { newId } from "@wonrail/kit/contract/ids";
import { createTestDatabase, eventually, type TestDatabase, testLog } from "@wonrail/kit/testing";
import { findPolicy, savePolicy } from "../store/policies";
import { createFacts, type FactsDeps } from "./facts";

let database: TestDatabase;
beforeAll(async () => {
  database = await createTestDatabase({
    schema: "payment",
    migrations: join(__dirname, "../../migrations"),
  });
});
afterAll(() => database.drop());

test("concurrent calls share one policy look-up, cached for a second and repeated after a failure", async () => {
  let nowMs = 0;
  let asked = 0;
  let away = false;
  const getOrganisation = () => {
    asked += 1;
    // The first caller's deadline must not end the question for the others.
    expect(currentContext()).toMatchObject({ requestId: "req_1" });
    expect(currentContext()).not.toHaveProperty("deadlineMs");
    if (away) return Promise.reject(new DomainError("SYS_002"));
    const organisation = {
      dailyTransferLimitWon: "1000",
      dailyChargeLimitWon: "5",
      maxChargeWon: "5",
      incentiveRateBps: 100,
      version: 1n,
    };
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
  const policy = {
    orgId,
    dailyLimitWon: "1000",
    dailyChargeLimitWon: "5",
    maxChargeWon: "5",
    incentiveRateBps: 100,
    version: 1n,
  };
  expect(await ask(5)).toEqual(Array(5).fill({ status: "fulfilled", value: policy }));
  expect(asked).toBe(2);

  // An event changes the stored policy. The cache notices after its second.
  await savePolicy(database.db, { ...policy, incentiveRateBps: 200, version: 2n });
  nowMs = 999;
  expect(await facts.policyOf(orgId)).toEqual(policy);
  nowMs = 1_001;
  expect(await facts.policyOf(orgId)).toEqual({ ...policy, incentiveRateBps: 200, version: 2n });
  expect(asked).toBe(2);
});

test("auth confirms a policy once a minute while it is in use, and no caller waits for the answer", async () => {
  let nowMs = 0;
  const answers: ((answer: { limit: string; version: bigint } | "away") => void)[] = [];
  const getOrganisation = () =>
    new Promise((resolve, reject) =>
      answers.push((answer) =>
        answer === "away"
          ? reject(new DomainError("SYS_002"))
          : resolve({
              organisation: {
                dailyTransferLimitWon: answer.limit,
                dailyChargeLimitWon: "5",
                maxChargeWon: "5",
                incentiveRateBps: 100,
                version: answer.version,
              },
            }),
      ),
    );
  const facts = factsOf(getOrganisation, () => nowMs);
  const orgId = newId("org");
  await savePolicy(database.db, {
    orgId,
    dailyLimitWon: "1000",
    dailyChargeLimitWon: "5",
    maxChargeWon: "5",
    incentiveRateBps: 100,
    version: 5n,
  });
  const limit = async () => (await facts.policyOf(orgId)).dailyLimitWon;
  const at = (ms: number) => ((nowMs = ms), limit());

  // Auth does not answer yet.
  expect([await at(0), await at(1_001), await at(59_000)]).toEqual(["1000", "1000", "1000"]);
  expect(answers).toHaveLength(1);
  answers[0]!({ limit: "0", version: 6n });
  await eventually(async () => expect(await findPolicy(database.db, orgId)).toMatchObject({ version: 6n }));
  expect(await at(60_001)).toBe("0");

  // Auth is away: the stored policy stays for another minute.
  expect(answers).toHaveLength(2);
  answers[1]!("away");
  expect([await at(62_000), await at(119_000)]).toEqual(["0", "0"]);
  expect(answers).toHaveLength(2);

  // An answer of auth that is older than the newest event changes nothing.
  expect(await at(121_000)).toBe("0");
  expect(answers).toHaveLength(3);
  await savePolicy(database.db, {
    orgId,
    dailyLimitWon: "7",
    dailyChargeLimitWon: "5",
    maxChargeWon: "5",
    incentiveRateBps: 100,
    version: 8n,
  });
  answers[2]!({ limit: "3", version: 7n });
  await new Promise((resolve) => setTimeout(resolve, 50));
  expect(await at(123_000)).toBe("7");
});

test.each([
  ["of a version that auth has not reached", { version: 2n ** 62n, dailyLimitWon: "9" }],
  ["of a version that auth used again for another change", { version: 6n, dailyLimitWon: "9" }],
])("a stored policy %s is replaced by auth's within a minute", async (_, stored) => {
  let nowMs = 0;
  const organisation = {
    dailyTransferLimitWon: "0",
    dailyChargeLimitWon: "5",
    maxChargeWon: "5",
    incentiveRateBps: 100,
    version: 6n,
  };
  const facts = factsOf(
    async () => ({ organisation }),
    () => nowMs,
  );
  const orgId = newId("org");
  await savePolicy(database.db, {
    orgId,
    dailyChargeLimitWon: "5",
    maxChargeWon: "5",
    incentiveRateBps: 10_000,
    ...stored,
  });
  expect(await facts.policyOf(orgId)).toMatchObject(stored);
  const answered = {
    orgId,
    dailyLimitWon: "0",
    dailyChargeLimitWon: "5",
    maxChargeWon: "5",
    incentiveRateBps: 100,
    version: 6n,
  };
  await eventually(async () => expect(await findPolicy(database.db, orgId)).toEqual(answered));
  nowMs = 1_001;
  expect(await facts.policyOf(orgId)).toEqual(answered);
});

test("at most four policies are confirmed at a time", async () => {
  const answers: (() => void)[] = [];
  const organisation = {
    dailyTransferLimitWon: "1000",
    dailyChargeLimitWon: "5",
    maxChargeWon: "5",
    incentiveRateBps: 100,
    version: 1n,
  };
  const getOrganisation = () => new Promise((resolve) => answers.push(() => resolve({ organisation })));
  let nowMs = 0;
  const facts = factsOf(getOrganisation, () => nowMs);
  const orgIds = Array.from({ length: 10 }, () => newId("org"));
  for (const orgId of orgIds)
    await savePolicy(database.db, {
      orgId,
      dailyLimitWon: "1000",
      dailyChargeLimitWon: "5",
      maxChargeWon: "5",
      incentiveRateBps: 100,
      version: 1n,
    });
  const readAllPolicies = () => Promise.all(orgIds.map((orgId) => facts.policyOf(orgId)));
  const asked: number[] = [];
  for (; nowMs < 8_000; nowMs += 2_000) {
    await readAllPolicies();
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
    monotonicMs,
  });
}

test("the wallet at an address is cached per organisation", async () => {
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
    monotonicMs: () => 0,
  });
  const at = (orgId: string) => facts.walletAt(orgId, "0x1");
  expect([await at(own), await at(other), await at(own), await at(other)]).toEqual([
    ...["wal_1", null, "wal_1", null],
  ]);
  expect(asked).toEqual([own, other, other]);
});
