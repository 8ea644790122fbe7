import { join } from "node:path";
import { actionsOf, createAdminService, listOperatorActions } from "@wonrail/kit/admin";
import { sql } from "@wonrail/kit/db";
import { recordTerminal } from "@wonrail/kit/testing";
import { approveNewest } from "@wonrail/kit/testing/approveNewest";
import { buildWorld } from "@wonrail/kit/testing/buildWorld";
import { runAdmin } from "./admin";
import { adminRpc } from "./adminRpc";
import { createOperations } from "./app";

const world = buildWorld(async (open) => {
  const { db } = await open.database({ schema: "auth", migrations: join(__dirname, "../migrations") });
  const rules = { keyMode: "test", keyLifetimeMs: 3_600_000, keyOverlapMs: 0 } as const;
  const admin = adminRpc(createOperations({ db, ...rules }), db);
  const common = { db, service: "auth", commit: "0", topic: undefined };
  const { address } = await open.server([admin, createAdminService(common, actionsOf([admin]))]);
  return { db, config: { AUTH_ADDRESS: address, USER: "kim" } };
});
afterAll(async () => (await world).close());

test.each([
  [["--daily-limit", "5000001"], "dailyTransferLimitWon from 5000000 to 5000001", { dailyLimit: 5_000_001 }],
  [["--plan", "ENTERPRISE"], "plan from STANDARD to ENTERPRISE", { plan: "ENTERPRISE" }],
  [
    ["--incentive-bps", "1", "--max-charge", "1"],
    "incentiveRateBps from 0 to 1",
    { incentiveBps: 1, maxCharge: 1 },
  ],
])("org set %j becomes a proposal, because it raises a limit of money", async (terms, effect, after) => {
  const code = `RAISED-${Object.keys(after)[0]!.toUpperCase()}`;
  await changed("create", code, "--name", "Raised");
  const before = await organisation(code);
  const { code: exit, out } = await set(code, ...terms);
  expect({ exit, out }).toEqual({ exit: 0, out: expect.stringContaining(effect) as string });
  expect(await organisation(code)).toEqual(before);
  expect((await approveNewest("auth", (await world).config)).code).toBe(0);
  expect(await organisation(code)).toEqual({ ...before, ...after, ...planTerms(after) });
  const [entry] = (await json("audit", "list", "--org", code)) as { actor: string; details: string }[];
  expect(entry!.actor).toBe("operator:second");
  expect(JSON.parse(entry!.details)).toMatchObject({ proposedBy: "kim", proposedReason: "contract" });
});

test("the end of a suspension is refused when the organisation has changed since the proposal", async () => {
  await changed("create", "HALTED", "--name", "Halted");
  await changed("set", "HALTED", "--status", "SUSPENDED");
  await set("HALTED", "--status", "ACTIVE", "--daily-limit", "9000000");
  await changed("set", "HALTED", "--daily-limit", "1");
  expect(await approveNewest("auth", (await world).config)).toMatchObject({
    code: 1,
    err: expect.stringContaining("dailyTransferLimitWon from 1 to 9000000") as string,
  });
  expect(await organisation("HALTED")).toMatchObject({ status: "SUSPENDED", dailyLimit: 1 });
});

test("a lower limit, a suspension and a new end of the subscription happen at once", async () => {
  await changed("create", "LOWERED", "--name", "Lowered");
  const terms = ["--daily-limit", "1", "--status", "SUSPENDED", "--subscription-ends", "2031-01-01"];
  await changed("set", "LOWERED", ...terms);
  expect(await organisation("LOWERED")).toMatchObject({ status: "SUSPENDED", dailyLimit: 1 });
});

test("--operator names who acts, also in the audit trail", async () => {
  await changed("create", "NAMED", "--name", "Named", "--operator", "park");
  expect(await json("audit", "list", "--org", "NAMED")).toMatchObject([{ actor: "operator:park" }]);
  expect(await set("NAMED", "--operator", "park")).toMatchObject({ code: 1 });
});

test("a dead letter is dropped once, and its row stays", async () => {
  const { db } = await world;
  await db.run(sql`
    insert into dead_letters (consumer_group, topic, partition, message_key, event_type, headers, payload, error, digest)
    values ('auth', 'wonrail.wallet.v1', 0, 'wal_2', 'gone', '{"org_id":"org_2"}', '', 'unknown type', sha256('y'))`);
  const letters = async (...state: string[]) =>
    (await json("dead-letter", "list", "--service", "auth", ...state)) as { id: string; state: string }[];
  const { id } = (await letters())[0]!;
  const act = (verb: string) =>
    run("dead-letter", verb, "--service", "auth", "--id", id, "--reason", "obsolete");
  expect(await act("drop")).toEqual({ code: 0, out: `${id} is dropped.\n`, err: "" });
  expect(await letters()).toEqual([]);
  expect(await letters("--state", "dropped")).toMatchObject([{ id, state: "dropped" }]);
  expect(await act("drop")).toMatchObject({ code: 1, err: expect.stringContaining("is dropped") as string });
  expect(await act("replay")).toMatchObject({ code: 1 });
  const [action] = await listOperatorActions(db, { limit: 1 });
  expect(action).toMatchObject({
    subject: `dead letter ${id}`,
    orgId: "org_2",
    operator: "kim",
    reason: "obsolete",
  });
  expect(JSON.parse(action!.details)).toMatchObject({ type: "gone", error: "unknown type", key: "wal_2" });
});

/** The plan's own limits come with it. */
function planTerms(after: object): object {
  return "plan" in after ? { dailyChargeLimit: any(), maxCharge: any(), rate: any(), burst: any() } : {};
}

function any(): number {
  return expect.any(Number) as number;
}

async function organisation(code: string): Promise<object> {
  const rows = (await json("org", "list")) as { orgCode: string }[];
  return rows.find(({ orgCode }) => orgCode === code)!;
}

async function changed(verb: string, code: string, ...options: string[]): Promise<void> {
  const { code: exit, out } = await run("org", verb, "--code", code, ...options, "--reason", "contract");
  expect({ exit, out }).toEqual({ exit: 0, out: expect.not.stringContaining("Proposed") as string });
}

function set(code: string, ...terms: string[]) {
  return run("org", "set", "--code", code, ...terms, "--reason", "contract");
}

async function json(...args: string[]): Promise<unknown> {
  const { code, out, err } = await run(...args, "--json");
  expect([code, err]).toEqual([0, ""]);
  return JSON.parse(out);
}

async function run(...args: string[]) {
  const { terminal, output } = recordTerminal();
  return { code: await runAdmin(args, { config: (await world).config, ...terminal }), ...output };
}
