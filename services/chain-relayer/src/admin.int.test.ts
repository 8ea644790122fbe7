import { join } from "node:path";
import { sql, tx } from "@wonrail/kit/db";
import { newId } from "@wonrail/kit/contract/ids";
import { createTestDatabase, type TestDatabase } from "@wonrail/kit/testing";
import { runAdmin } from "./admin";
import { saveDrifts } from "./reconciliation/store/drifts";
import { JournalPosted } from "@wonrail/proto/ledger/events/v1/events";
import { envelopeOf } from "@wonrail/kit/inbox";
import { entryEvent } from "./testing/entryEvents";
import { takeIntoUse } from "./indexer/store/paymentManagers";
import { insertShelved } from "./settlement/store/shelf";

let database: TestDatabase;

beforeAll(async () => {
  database = await createTestDatabase({
    schema: "chain_relayer",
    migrations: join(__dirname, "../migrations"),
  });
});
afterAll(() => database.drop());

test("says what is stuck and why, and tells one operation's whole story", async () => {
  const orgId = newId("org");
  const ledgerRef = newId("pay");
  await insert(orgId, ledgerRef);
  const args = ["operations", "list", "--stuck", "--older-than", "0"];
  expect(await json(...args)).toMatchObject([{ orgId, ledgerRef, state: "WAITING" }]);
  expect((await run("lane", "pause", orgId, "--reason", "asked to")).code).toBe(0);
  expect(await json(...args)).toMatchObject([{ waitReason: "lane_paused" }]);
  await database.db.run(sql`update operations set state = 'PLANNED'`);
  expect(await json(...args)).toMatchObject([{ waitReason: "lane_paused" }]);
  await database.db.run(sql`update operations set state = 'WAITING'`);
  const story = await json("operation", "show", ledgerRef);
  expect(story).toMatchObject({ operation: { ledger_ref: ledgerRef, state: "WAITING" }, transactions: [] });
  expect((await run("operation", "show", ledgerRef)).out).toContain(ledgerRef);
  expect((await run("operation", "show", "pay_0")).code).toBe(1);
});

test("an operation is ended only with a reason and the same id once more", async () => {
  const ledgerRef = newId("pay");
  const args = ["operation", "end", ledgerRef, "--by", "sign-anew"];
  expect(await run(...args)).toMatchObject({ code: 2 });
  expect(await run(...args, "--reason", "seen")).toMatchObject({
    code: 1,
    err: expect.stringContaining(`--confirm ${ledgerRef}`),
  });
  expect(await run(...args, "--reason", "seen", "--confirm", newId("pay"))).toMatchObject({ code: 1 });
  expect(await run(...args, "--reason", "seen", "--tx", "0x1", "--confirm", ledgerRef)).toMatchObject({
    code: 1,
    err: expect.stringContaining("--tx"),
  });
  expect(await run("operation", "end", ledgerRef, "--by", "magic", "--reason", "x")).toMatchObject({
    code: 2,
  });
});

test("pauses and resumes a lane, with who did it and why", async () => {
  const orgId = newId("org");
  expect((await run("lane", "pause", orgId, "--reason", "asked to")).code).toBe(1);
  await insert(orgId, newId("pay"));
  await run("lane", "pause", orgId, "--reason", "asked to");
  const lanes = (await json("lane", "list")) as { orgId: string }[];
  expect(lanes.find((lane) => lane.orgId === orgId)).toEqual({
    orgId,
    pausedReason: "asked to (operator:tester)",
    shelved: 0,
  });
  expect((await run("lane", "resume", orgId)).code).toBe(0);
  expect((await run("lane", "resume", newId("org"))).code).toBe(1);
});

test.each([
  [["operations", "list", "--org", "FIRST"]],
  [["lane", "pause", "FIRST", "--reason", "asked to"]],
  [["lane", "resume", "FIRST"]],
])("%j: an organisation's code is not taken for its id, of which there would be nothing", async (args) => {
  expect(await run(...args)).toMatchObject({ code: 2, err: expect.stringContaining("organisation's id") });
});

test("says of what is on the shelf whose it is, and how much there is", async () => {
  const orgId = newId("org");
  const events = [1, 2].map(() => entryEvent(orgId, newId("chg"), [newId("wal"), 5n, 1n]));
  await tx(database.db, async (tx) => insertShelved(tx, orgId, events.map(envelopeOf)));
  expect(await json("lane", "list")).toContainEqual({ orgId, pausedReason: null, shelved: 2 });
  const told = await run("operation", "show", events[0]!.aggregateId);
  expect(told).toMatchObject({ code: 1, err: expect.stringContaining(`on the shelf of ${orgId}`) });
});

test("does not take for what is on the shelf what is only named there", async () => {
  const orgId = newId("org");
  const [payment, cancellation] = [newId("pay"), newId("pcl")];
  const event = entryEvent(orgId, cancellation, [newId("wal"), 5n, 1n]);
  const entry = { ...JournalPosted.decode(event.payload), relatedId: payment, memo: `of ${payment}` };
  const payload = Buffer.from(JournalPosted.encode(entry).finish());
  await tx(database.db, async (tx) => insertShelved(tx, orgId, [envelopeOf({ ...event, payload })]));
  expect((await run("operation", "show", payment)).err).toContain(`There is no operation ${payment}`);
  expect((await run("operation", "show", cancellation)).err).toContain(`on the shelf of ${orgId}`);
});

test("acknowledges a wallet's drift once, and the same difference is not found again", async () => {
  const walletId = newId("wal");
  const found = {
    orgId: newId("org"),
    walletId,
    kind: "CHAIN" as const,
    subject: "",
    expected: 5n,
    actual: 7n,
    blockNumber: 1n,
  };
  expect(await saveDrifts(database.db, [found])).toHaveLength(1);
  expect(await saveDrifts(database.db, [found])).toHaveLength(0);
  expect(await json("drift", "list")).toMatchObject([{ walletId, difference: "2", acknowledgedAt: null }]);
  expect((await run("drift", "ack", walletId)).out).toBe("1 acknowledged.\n");
  expect((await run("drift", "ack", walletId)).code).toBe(1);
  expect(await saveDrifts(database.db, [{ ...found, expected: 6n, actual: 8n }])).toHaveLength(0);
  expect(await json("drift", "list")).toEqual([]);
  expect(await saveDrifts(database.db, [{ ...found, actual: 9n }])).toHaveLength(1);
  expect(await json("drift", "list", "--all")).toMatchObject([
    { difference: "4" },
    { acknowledgedBy: "operator:tester" },
  ]);
});

test("lists payment managers, the one in use last, and takes no other without a look at the chain", async () => {
  const [one, next] = ["4", "5"].map((digit) => `0x${digit.repeat(40)}`);
  for (const address of [next!, one!]) await tx(database.db, (tx) => takeIntoUse(tx, address));
  expect(await json("manager", "list")).toEqual([{ address: next }, { address: one }]);
  expect((await run("manager", "adopt", "0x12")).code).toBe(2);
  const { code, err } = await run("manager", "adopt", next!);
  expect({ code, err }).toEqual({ code: 2, err: expect.stringContaining("There is no chain.") });
});

test("a wrong command line is 2 and says how to get help", async () => {
  const { code, err } = await run("drift", "ack", "--id", "x");
  expect(code).toBe(2);
  expect(err).toContain("--help");
  expect((await run("drift", "ack")).code).toBe(1);
});

test("a database of another service is refused in a sentence", async () => {
  const other = await createTestDatabase({ schema: "elsewhere" });
  const { code, err } = await run.on(other.url)("operations", "list");
  await other.drop();
  expect({ code, err }).toEqual({ code: 2, err: expect.stringMatching(/ no schema chain_relayer .+\.\n$/) });
});

async function insert(orgId: string, ledgerRef: string): Promise<void> {
  await database.db.run(sql`insert into lanes (org_id) values (${orgId}) on conflict do nothing`);
  const operationId = newId("opn").slice(4).repeat(2);
  await database.db.run(sql`
    insert into operations (org_id, ledger_ref, related_id, kind, operation_id, steps, from_wallets, state, blocked, request_id, traceparent)
    values (${orgId}, ${ledgerRef}, ${ledgerRef}, 'INTENT_KIND_PAYMENT', ${operationId}, '[]', '{}', 'WAITING', 0, '', '')`);
}

function runOn(databaseUrl: () => string) {
  return async (...args: string[]) => {
    const said = { out: "", err: "" };
    const code = await runAdmin(args, {
      config: {
        DATABASE_URL: databaseUrl(),
        NETWORK: "WON_TESTNET" as const,
        CHAIN_RPC_URLS: [],
        USER: "tester",
      },
      out: (text) => void (said.out += text),
      err: (text) => void (said.err += text),
    });
    return { code, ...said };
  };
}

const run = Object.assign(
  runOn(() => database.url),
  { on: (url: string) => runOn(() => url) },
);

async function json(...args: string[]): Promise<unknown> {
  const { code, out, err } = await run(...args, "--json");
  expect([code, err]).toEqual([0, ""]);
  return JSON.parse(out);
}
