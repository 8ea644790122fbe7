import { join } from "node:path";
import { type Database, rawSql } from "@wonrail/kit/db";
import { createTestDatabase, openTestDatabase, type TestDatabase } from "@wonrail/kit/testing";
import { createOperations, type Operations } from "../app";
import { type AuditReport, verifyAuditAlways } from "./verifyAuditAlways";

let database: TestDatabase;
let owner: Database;
let auth: Operations;
let verify: () => Promise<AuditReport>;

// Two chains of six entries. A round reads four entries, so a full walk takes three rounds and one
// to find the end.
beforeEach(async () => {
  database = await createTestDatabase({ schema: "auth", migrations: join(__dirname, "../../migrations") });
  owner = openTestDatabase(database.ownerUrl, "auth", { max: 1 });
  auth = createOperations({ db: database.db, keyMode: "test", keyLifetimeMs: 3_600_000, keyOverlapMs: 0 });
  for (const code of ["ONE", "TWO"]) {
    await auth.createOrganisation({ name: "A bank", code, actor: "operator:test" });
    for (let i = 0; i < 5; i += 1) await issue(code);
  }
  verify = verifyAuditAlways({ db: database.db, oldAtOnce: 4 });
});
afterEach(async () => {
  await owner.close();
  await database.drop();
});

test("a round reads a limited number of entries, and continues behind the last one", async () => {
  const rounds = [await verify(), await verify(), await verify(), await verify(), await verify()];
  expect(rounds.map(({ entries }) => entries)).toEqual([4, 4, 4, 0, 4]);
  expect(rounds.flatMap(({ problems }) => problems)).toEqual([]);
  expect(rounds[0]!.organisations).toBe(2);
});

test("a changed new entry is detected in the next round, wherever the walk is", async () => {
  await verify();
  await issue("TWO");
  await tamper("update audit_entries set actor = 'operator:other' where sequence = 7");
  expect(await found()).toEqual(["7 its contents were changed"]);
  await tamper("update audit_entries set actor = 'operator:test' where sequence = 7");
  expect(await found()).toEqual([]);
});

test("the first entry of a new organisation counts as new", async () => {
  await verify();
  await auth.createOrganisation({ name: "A bank", code: "NEW", actor: "operator:test" });
  await tamper("update audit_entries set actor = 'operator:other' where subject = 'NEW'");
  expect(await found()).toEqual(["1 its contents were changed"]);
});

test("a changed old entry is detected when the walk reaches it, and reported until it is repaired", async () => {
  await verify();
  await tamper("update audit_entries set actor = 'operator:other' where sequence = 2");
  const message = "2 its contents were changed";
  // In turn: the rest of the first chain, the second chain's second entry, its end, and the first
  // chain's second entry.
  const rounds = [await found(), await found(), await found(), await found()];
  expect(rounds).toEqual([[message], [message], [message], [message, message]]);
  await issue("ONE");
  expect(await found()).toEqual([message, message]);
  await tamper("update audit_entries set actor = 'operator:test' where sequence = 2");
  expect(await found()).toEqual([]);
});

test("two changed entries of a chain are reported one after the other", async () => {
  await tamper("update audit_entries set actor = 'operator:other' where sequence in (2, 4)");
  for (let round = 0; round < 4; round += 1) await verify();
  expect(await found()).toEqual(["2 its contents were changed", "2 its contents were changed"]);
  await tamper("update audit_entries set actor = 'operator:test' where sequence = 2");
  expect(await found()).toEqual(["4 its contents were changed", "4 its contents were changed"]);
});

test("a truncated chain is detected in the next round, also when its head was changed with it", async () => {
  await verify();
  await tamper("delete from audit_entries where sequence = 6");
  expect(await found()).toEqual(Array(2).fill("5 the chain does not end where its head says"));
  await tamper(
    "update audit_heads h set (sequence, hash) = (select sequence, hash from audit_entries e where e.org_id = h.org_id and sequence = 5)",
  );
  expect(await found()).toEqual(Array(2).fill("5 the chain was replaced behind what was verified"));
});

test("the removal of an organisation with its chain is detected", async () => {
  await auth.createOrganisation({ name: "A bank", code: "NEW", actor: "operator:test" });
  await verify();
  const its = "where org_id = (select org_id from organisations where code = 'NEW')";
  for (const table of ["audit_heads", "audit_entries", "api_keys"])
    await tamper(`delete from ${table} ${its}`);
  await tamper("delete from organisations where code = 'NEW'");
  expect(await found()).toEqual(["1 its organisation was removed"]);
});

test("a failed round keeps the known problems", async () => {
  await tamper("update audit_entries set actor = 'operator:other' where sequence = 2");
  expect(await found()).toEqual(["2 its contents were changed"]);
  await tamper("alter table organisations rename to away");
  await expect(verify()).rejects.toThrow("organisations");
  await tamper("alter table away rename to organisations");
  expect(await found()).toContain("2 its contents were changed");
});

async function issue(code: string): Promise<void> {
  await auth.issueKey({ code, actor: "operator:test" });
}

/** By the schema's owner, whom no grant stops. */
async function tamper(statement: string): Promise<void> {
  await owner.run(rawSql(statement));
}

async function found(): Promise<string[]> {
  const { problems } = await verify();
  return problems.map(({ sequence, problem }) => `${sequence} ${problem}`);
}
