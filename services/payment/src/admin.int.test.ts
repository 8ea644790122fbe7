import { setTimeout as sleep } from "node:timers/promises";
import { listOperatorActions } from "@wonrail/kit/admin";
import { rawSql } from "@wonrail/kit/db";
import { buildWorld } from "@wonrail/kit/testing/buildWorld";
import { runAdmin } from "./admin";
import { adminRpc } from "./adminRpc";
import { charge } from "./commands/testing/commands";
import { catchUp } from "./commands/testing/events";
import { openWorld, type World } from "./commands/testing/world";

let world: World;
let address: string;
const opening = buildWorld(async (open) => {
  world = await open.use(openWorld());
  return open.server([adminRpc(world.app())]);
});
beforeAll(async () => {
  ({ address } = await opening);
}, 60_000);
afterAll(async () => (await opening).close());

/** Runs the command and, as the clock does, the service's job. */
async function run(...args: string[]): Promise<{ code: number; out: string; err: string }> {
  const output = { out: "", err: "" };
  const running = runAdmin(args, {
    config: { PAYMENT_ADDRESS: address, USER: "tester" },
    out: (text) => (output.out += text),
    err: (text) => (output.err += text),
    lookEveryMs: 20,
  });
  let isRunning = true;
  const clock = (async () => {
    for (; isRunning; await sleep(20)) await world.app().rebuildRecords();
  })();
  const code = await running.finally(() => (isRunning = false));
  await clock;
  return { code, ...output };
}

const REASON = ["--reason", "test"];

test("rebuild rewrites the records, prints its progress and records the operator", async () => {
  const { walletId } = await world.openWallet();
  for (let count = 0; count < 3; count += 1) await world.execute(charge(walletId, 1_000));
  await catchUp(world);
  const { db } = world.databases.payment;
  await db.run(rawSql("delete from charges"));
  const { code, out } = await run("rebuild", ...REASON);
  expect([code, out]).toEqual([
    0,
    expect.stringMatching(/Rebuilt: 1 organisations done, \d+ entries replayed, 0 settlements read/),
  ]);
  const charges = rawSql("select count(*) as count from charges");
  expect(await db.one(charges)).toEqual({ count: 3n });
  expect(await listOperatorActions(db, { limit: 10 })).toMatchObject([
    { operator: "tester", reason: "test", subject: "rebuild 1" },
  ]);
}, 60_000);

test("rebuild --json prints only the result", async () => {
  const { code, out } = await run("rebuild", "--json", ...REASON);
  expect(code).toBe(0);
  expect(JSON.parse(out)).toEqual({ organisations: 1, entries: expect.any(Number), settlements: 0 });
}, 60_000);

test("a wrong command line exits with 2 and shows the help", async () => {
  expect(await run("rebuild", "--everything")).toMatchObject({
    code: 2,
    err: expect.stringContaining("--help"),
  });
});
