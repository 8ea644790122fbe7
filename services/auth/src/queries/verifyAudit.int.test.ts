import { join } from "node:path";
import { type Database, rawSql, sql } from "@wonrail/kit/db";
import { idToUuid, uuidToId } from "@wonrail/kit/contract/ids";
import { createTestDatabase, openTestDatabase, type TestDatabase } from "@wonrail/kit/testing";
import { createOperations, type Operations } from "../app";
import { nextAuditEntry } from "../domain/auditEntries";
import { listAuditChains, pageOfAuditEntries } from "../store/auditEntries";

const FIRST_ORG = uuidToId("org", "00000000-0000-0000-0000-000000000000");

let database: TestDatabase;
let owner: Database;
let auth: Operations;

beforeAll(async () => {
  database = await createTestDatabase({ schema: "auth", migrations: join(__dirname, "../../migrations") });
  owner = openTestDatabase(database.ownerUrl, "auth", { max: 1 });
  auth = createOperations({ db: database.db, keyMode: "test", keyLifetimeMs: 3_600_000, keyOverlapMs: 0 });
  for (const code of ["ONE", "TWO"]) {
    await auth.createOrganisation({ name: "A bank", code, actor: "operator:test" });
    for (let i = 0; i < 5; i += 1) await auth.issueKey({ code, actor: "operator:test" });
  }
});
afterAll(async () => {
  await owner.close();
  await database.drop();
});

test("an untouched trail is valid", async () => {
  expect(await auth.verifyAudit()).toEqual({ organisations: 2, entries: 12, problems: [] });
});

// Each is done by the schema's owner, whom no grant stops, and undone again.
test.each([
  ["a changed actor", "update audit_entries set actor = 'operator:other' where sequence = 3", 3n],
  [
    "a changed time",
    "update audit_entries set occurred_at = occurred_at + interval '1 ms' where sequence = 3",
    3n,
  ],
  ["a removed entry", "delete from audit_entries where sequence = 3", 4n],
  ["a cut-off end", "delete from audit_entries where sequence > 4", 4n],
  ["a removed chain", "delete from audit_entries", 0n],
  ["a removed head", "delete from audit_heads", 6n],
  [
    "an inserted entry",
    'insert into audit_entries select (e).* from (select jsonb_populate_record(a, \'{"sequence": ' +
      "7}') as e from audit_entries a where sequence = 6) copy",
    7n,
  ],
  ["a rewritten hash", "update audit_entries set hash = sha256('x') where sequence = 6", 6n],
])("%s is detected in both chains", async (_name, tampering, sequence) => {
  const found = await verifyTampered(() => owner.run(rawSql(tampering)));
  expect(found.problems.map((problem) => problem.sequence)).toEqual([sequence, sequence]);
});

test("a replaced last entry with a matching hash is detected by the head", async () => {
  const rewrite = async () => {
    for (const { orgId, head } of await listAuditChains(owner, FIRST_ORG, 10)) {
      const page = await pageOfAuditEntries(owner, { orgId, sequence: head!.sequence - 1n }, 1);
      const { previousHash, ...last } = page[0]!;
      const before = { sequence: last.sequence - 1n, hash: previousHash };
      const { hash, actor } = nextAuditEntry(orgId, before, { ...last, actor: "operator:other" });
      const of = sql`org_id = ${idToUuid(orgId)} and sequence = ${last.sequence}`;
      await owner.run(sql`update audit_entries set actor = ${actor}, hash = ${hash} where ${of}`);
    }
  };
  const found = await verifyTampered(rewrite);
  expect(found.problems.map(({ problem }) => problem)).toEqual(
    Array(2).fill("the chain does not end where its head says"),
  );
});

test("the service's role may only insert entries", async () => {
  for (const statement of [
    "update audit_entries set actor = 'x'",
    "delete from audit_entries",
    "truncate audit_entries",
    "delete from audit_heads",
  ]) {
    await expect(database.db.run(rawSql(statement))).rejects.toThrow("permission denied");
  }
});

test("fifty concurrent changes form one unbroken chain", async () => {
  await Promise.all(
    Array.from({ length: 50 }, (_, i) =>
      auth.setOrganisation({ code: "ONE", change: { name: `Bank ${i}` }, actor: "operator:test" }),
    ),
  );
  const trail = await auth.listAudit({ code: "ONE", limit: 100 });
  expect(trail.map(({ sequence }) => sequence)).toEqual(Array.from({ length: 56 }, (_, i) => BigInt(56 - i)));
  expect((await auth.verifyAudit()).problems).toEqual([]);
});

async function verifyTampered(tamper: () => Promise<unknown>) {
  await owner.run(sql`create table kept_entries as table audit_entries`);
  await owner.run(sql`create table kept_heads as table audit_heads`);
  try {
    await tamper();
    return await auth.verifyAudit();
  } finally {
    await owner.run(sql`delete from audit_entries`);
    await owner.run(sql`insert into audit_entries table kept_entries`);
    await owner.run(sql`delete from audit_heads`);
    await owner.run(sql`insert into audit_heads table kept_heads`);
    await owner.run(rawSql("drop table kept_entries, kept_heads"));
  }
}
