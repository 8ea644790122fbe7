import { sql, tx } from "../db";
import { createTestDatabase, openTestDatabase, type TestDatabase } from "../testing";
import { listOperatorActions, appendOperatorAction, verifyOperatorActions } from "./operatorActions";
import { type ActingOperator } from "./operators";

const kim: ActingOperator = {
  name: "kim",
  roles: ["treasury"],
  reason: "asked by the bank",
  client: "console",
  method: "wonrail.relayer.v1.RelayerAdminService/PauseQueue",
};

let database: TestDatabase;
beforeEach(async () => {
  database = await createTestDatabase({ schema: "sample" });
});
afterEach(() => database.drop());

const act = (subject: string) =>
  tx(database.db, (tx) =>
    appendOperatorAction(tx, kim, { orgId: "org_1", subject, details: { amount: "5" } }),
  );

test("actions are listed newest first, page by page", async () => {
  for (const subject of ["a", "b", "c"]) await act(subject);
  const page = await listOperatorActions(database.db, { limit: 2 });
  expect(page).toMatchObject([
    { sequence: 3n, subject: "c", operator: "kim", roles: ["treasury"], client: "console", orgId: "org_1" },
    { sequence: 2n, subject: "b", reason: "asked by the bank", details: '{"amount":"5"}' },
  ]);
  expect(await listOperatorActions(database.db, { limit: 2, before: 2n })).toMatchObject([{ subject: "a" }]);
});

test("concurrent actions form one sound chain", async () => {
  await Promise.all(Array.from({ length: 20 }, (_, index) => act(`${index}`)));
  expect(await verifyOperatorActions(database.db)).toEqual({ actions: 20n, broken: null });
});

test("an action is not recorded when its change is rolled back", async () => {
  const failing = tx(database.db, async (tx) => {
    await appendOperatorAction(tx, kim, { subject: "a" });
    throw new Error("the change failed");
  });
  await expect(failing).rejects.toThrow("the change failed");
  expect(await verifyOperatorActions(database.db)).toEqual({ actions: 0n, broken: null });
});

test.each([
  [
    "changed",
    sql`update operator_actions set reason = 'none' where sequence = 2`,
    2n,
    "its contents were changed",
  ],
  ["removed", sql`delete from operator_actions where sequence = 2`, 2n, "it is missing"],
  ["cut off", sql`delete from operator_actions where sequence = 3`, 3n, "the end of the chain is missing"],
  [
    "re-linked",
    sql`update operator_actions set previous_hash = hash where sequence = 2`,
    2n,
    "does not follow",
  ],
])("an action that was %s breaks the chain", async (_how, tampering, sequence, problem) => {
  for (const subject of ["a", "b", "c"]) await act(subject);
  const owner = openTestDatabase(database.ownerUrl, "sample", { max: 1 });
  await owner.run(tampering);
  await owner.close();
  const { broken } = await verifyOperatorActions(database.db);
  expect(broken).toEqual({ sequence, problem: expect.stringContaining(problem) as string });
});

test.each([
  ["change an action", sql`update operator_actions set reason = 'none'`],
  ["delete an action", sql`delete from operator_actions`],
  ["delete the head", sql`delete from operator_action_head`],
])("the service's role may not %s", async (_what, statement) => {
  await act("a");
  await expect(database.db.run(statement)).rejects.toThrow("permission denied");
});
