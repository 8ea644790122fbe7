import { randomUUID } from "node:crypto";
import { readFileSync } from "node:fs";
import { join } from "node:path";
import { rawSql, sql } from "@wonrail/kit/db";
import { newId } from "@wonrail/kit/contract/ids";
import { createLog } from "@wonrail/kit/log";
import { runAdmin } from "../admin";
import { findClosingOutcome } from "../store/closings";
import { closeOperations } from "./closeOperations";
import { openOldWorld, type OldWorld } from "./testing/oldMonths";
import { asOwner, type Command, complete, valueOf, type World } from "./testing/world";

const DAY_MS = 24 * 3_600_000;
const WON = "1000";

let world: World;
let oldMs: number;
let monthLeaves: OldWorld["monthLeaves"];
let walletId: string;

beforeEach(async () => {
  ({ world, oldMs, monthLeaves } = await openOldWorld());
  ({ walletId } = await world.openWallet());
}, 60_000);
afterEach(() => world.close());

const charge = (): Command => ({ $case: "charge", value: { walletId, amountWon: WON, memo: undefined } });

test("lists what is open and closes what left the ledger without having been decided, and its key does it once", async () => {
  const { id, key } = await open(newId("chg", oldMs));
  await monthLeaves();
  await complete(world);
  const { code, said } = await run("operations", "list", "--older-than", "0", "--json");
  const listed = { operation: id, organisation: world.orgId, kind: "CHARGE" };
  const rows = JSON.parse(said) as { ageSeconds: number }[];
  expect({ code, rows }).toEqual({
    code: 0,
    rows: [
      { ...listed, since: expect.any(String), lastTried: expect.any(String), ageSeconds: expect.any(Number) },
    ],
  });
  // It was made a minute old.
  expect(rows[0]!.ageSeconds).toBeGreaterThanOrEqual(60);
  expect(await run("operations", "list", "--org", newId("org"))).toEqual({ code: 0, said: "none" });
  expect(await run("operations", "list", "--org", "FIRST")).toEqual({
    code: 2,
    said: expect.stringContaining("It must be an organisation's id"),
  });
  expect(await world.metric("payment_abandoned_operations")).toBe(1);

  expect(await closed(id)).toEqual({ code: 0, said: expect.stringContaining(`${id} is closed`) });
  expect(await run("operations", "list", "--older-than", "0")).toEqual({ code: 0, said: "none" });
  expect(await world.metric("payment_abandoned_operations")).toBe(0);
  expect(await run("operation", "close", id, ...WHY())).toMatchObject({
    code: 1,
    said: expect.stringContaining("has no"),
  });
  expect(await world.payment.db.query(sql`select operator, reason, outcome from closings`)).toEqual([
    { operator: "operator:tester", reason: "its month has left", outcome: "CLOSED" },
  ]);

  const again = await world.execute(charge(), key);
  expect(valueOf(again, "charge").chargeId).not.toBe(id);
  expect(await world.execute(charge(), key)).toEqual({ ...again, replayed: true });
  expect(await world.balances(walletId)).toEqual([1_000]);
}, 60_000);

test("leaves open what the ledger has decided, whether its month has left or not", async () => {
  const { id, key } = await open(newId("chg", oldMs));
  await post(id);
  expect(await closed(id)).toMatchObject({
    code: 1,
    said: expect.stringContaining("the ledger has decided it, and"),
  });
  await monthLeaves();
  expect(await closed(id)).toMatchObject({ code: 1, said: expect.stringContaining("table of its month") });
  await expect(world.execute(charge(), key)).rejects.toMatchObject({ code: "SYS_003" });
  expect(await states()).toEqual(["CLAIMED"]);

  // What the runbook has an operator do when the partner has been told.
  const runbook = readFileSync(join(__dirname, "../../../../docs/runbooks/OperationsAbandoned.md"), "utf8");
  const statement = runbook.match(/`(update payment\.operations [^`]+)`/)![1]!;
  await asOwner(world.payment, statement.replace("org_…", world.orgId).replace("chg_…", id));
  expect(await world.metric("payment_abandoned_operations")).toBe(0);
  expect(await world.execute(charge(), key)).toMatchObject({
    replayed: true,
    outcome: { $case: "error", value: { code: "SYS_001" } },
  });
  expect(await world.balances(walletId)).toEqual([1_000]);
}, 60_000);

test("leaves open what the ledger may still take, and it is done once", async () => {
  const { id, key } = await open(newId("chg"));
  expect(await closed(id)).toMatchObject({ code: 1, said: expect.stringContaining("still may") });
  await complete(world);
  expect(await world.execute(charge(), key)).toMatchObject({ replayed: true });
  expect(await run("operation", "close", id, ...WHY())).toMatchObject({
    code: 1,
    said: expect.stringContaining("is DONE"),
  });
  expect(await world.balances(walletId)).toEqual([1_000]);
}, 60_000);

test("leaves open what nobody can say anything of, since its month is nowhere", async () => {
  const { id } = await open(newId("chg", oldMs - 400 * DAY_MS));
  expect(await closed(id)).toMatchObject({ code: 1, said: expect.stringContaining("Bring it back") });
  expect(await states()).toEqual(["CLAIMED"]);
}, 60_000);

test("waits for a ledger that is away, and then closes it", async () => {
  const { id } = await open(newId("chg", oldMs));
  await monthLeaves();
  await world.stop("ledger");
  expect(await run("operation", "close", id, ...WHY())).toMatchObject({
    code: 1,
    said: expect.stringContaining("not closed yet"),
  });
  await expect(runJob()).rejects.toMatchObject({ code: "SYS_002" });
  expect(await states()).toEqual(["CLAIMED"]);
  await world.crash();
  await runJob();
  expect(await states()).toEqual([]);
}, 60_000);

test("two replicas, the completer and the client at once: it is closed once, and done once if the client asks", async () => {
  const { id, key } = await open(newId("chg", oldMs));
  await monthLeaves();
  await run("operation", "close", id, ...WHY());
  const lines: string[] = [];
  const log = createLog({
    service: "payment",
    level: "info",
    destination: { write: (line) => void lines.push(line) },
  });
  const deps = { db: world.payment.db, log, ledger: world.ledger() };
  const close = () => closeOperations(deps, new AbortController().signal);
  const ask = () => world.execute(charge(), key).catch(({ code }: { code: string }) => code);
  const asked = await Promise.all([close(), ask(), complete(world), ask(), close(), ask()]);
  for (const answer of asked.filter((one) => typeof one === "string"))
    expect(["SYS_002", "SYS_003"]).toContain(answer);
  expect(await findClosingOutcome(world.payment.db, world.orgId, id)).toBe("CLOSED");
  const told = lines.map((line) => JSON.parse(line) as object);
  expect(told).toMatchObject([
    {
      operationId: id,
      orgId: world.orgId,
      kind: "CHARGE",
      operator: "operator:tester",
      reason: "its month has left",
    },
  ]);
  valueOf(await world.execute(charge(), key), "charge");
  expect(await states()).toEqual(["DONE"]);
  expect(await world.balances(walletId)).toEqual([1_000]);
}, 60_000);

test("refuses what is not there, another's, or asked for without a reason, and writes nothing down", async () => {
  const { id } = await open(newId("chg", oldMs));
  const other = newId("org");
  const refused = async (...args: string[]) => (await run("operation", "close", ...args)).said;
  expect(await refused(newId("chg"), ...WHY())).toContain("has no operation");
  expect(await refused(id, "--org", other, "--reason", "x")).toBe(`${other} has no operation ${id}.`);
  expect(await refused(id, "--org", "FIRST", "--reason", "x")).toContain("It must be an organisation's id");
  expect(await refused(id, "--org", world.orgId, "--reason", " ")).toContain("--reason is a sentence");
  expect(await world.payment.db.query(sql`select from closings`)).toEqual([]);
}, 60_000);

/** A charge that is open under this id since a minute, of which the ledger knows nothing. */
async function open(id: string): Promise<{ id: string; key: string }> {
  const key = randomUUID();
  await world.stop("ledger");
  await expect(world.execute(charge(), key)).rejects.toMatchObject({ code: "SYS_002" });
  await asOwner(
    world.payment,
    `update operations set operation_id = '${id}', state = 'CLAIMED', created_at = now() - interval '60 seconds'`,
  );
  await world.crash();
  return { id, key };
}

function post(id: string): Promise<unknown> {
  const context = { orgId: world.orgId, requestId: "", traceparent: "" };
  const intent = { $case: "charge", value: { walletId, amountWon: WON } } as const;
  return world.ledger().post({ context, requestId: id, intent });
}

const WHY = () => ["--org", world.orgId, "--reason", "its month has left"];

/** The command while no process does what it has written down. */
async function run(...args: string[]): Promise<{ code: number; said: string }> {
  return runFor(0, ...args);
}

async function runFor(patienceMs: number, ...args: string[]): Promise<{ code: number; said: string }> {
  let said = "";
  const hear = (text: string) => void (said += text);
  const config = { DATABASE_URL: world.payment.url, USER: "tester" };
  const code = await runAdmin(args, { config, out: hear, err: hear, patienceMs });
  return { code, said: said.trimEnd() };
}

/** And while the service runs. */
async function closed(id: string): Promise<{ code: number; said: string }> {
  const command = runFor(20_000, "operation", "close", id, ...WHY());
  let ended = false;
  void command.finally(() => (ended = true));
  while (!ended) await runJob();
  return command;
}

function runJob(): Promise<void> {
  return world.app().closeOperations(new AbortController().signal);
}

async function states(): Promise<string[]> {
  const rows = await world.payment.db.query<{ state: string }>(rawSql("select state from operations"));
  return rows.map(({ state }) => state);
}
