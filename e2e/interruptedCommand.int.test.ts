import { spawn } from "node:child_process";
import { once } from "node:events";
import { join } from "node:path";
import { text } from "node:stream/consumers";
import { adminRpc } from "@wonrail/auth/adminRpc";
import { createOperations } from "@wonrail/auth/app";
import { rawSql, sql, tx } from "@wonrail/kit/db";
import { eventually, openTestDatabase } from "@wonrail/kit/testing";
import { buildWorld } from "@wonrail/kit/testing/buildWorld";
import { ROOT } from "./ops/repository";

const AUTH = join(ROOT, "services/auth");
const WONRAIL = join(ROOT, "deploy/local/bin/wonrail.mjs");

const world = buildWorld(async (open) => {
  const { db, adminUrl } = await open.database({ schema: "auth", migrations: join(AUTH, "migrations") });
  const keys = { keyMode: "test", keyLifetimeMs: 3_600_000, keyOverlapMs: 0 } as const;
  const { address } = await open.server([adminRpc(createOperations({ db, ...keys }), db)]);
  return { address, outside: await open.use(openTestDatabase(adminUrl, "auth")) };
});
afterAll(async () => (await world).close());

test.each([
  ["SIGINT", 130],
  ["SIGTERM", 143],
] as const)(
  "wonrail org create shows the secrets that it commits when %s interrupts it",
  async (signal, exitCode) => {
    const args = ["org", "create", "--name", "First Bank", "--code", `BY-${signal}`, "--reason", "test"];
    const { address, outside } = await world;
    const env = { ...process.env, AUTH_ADDRESS: address };
    const command = spawn(process.execPath, [WONRAIL, ...args], { env });
    const output = text(command.stdout);
    const exited = once(command, "exit");
    await tx(outside, async (tx) => {
      await tx.query(rawSql("lock table organisations in share mode"));
      await eventually(async () => expect(await waitingForLock()).toBe(1n), { timeoutMs: 20_000 });
      const answered = once(command.stderr, "data");
      command.kill(signal);
      expect(String(await answered)).toContain("Finishing first");
    });
    expect(await exited).toEqual([exitCode, null]);
    expect(await output).toMatch(/^secretKey +sk_test_/m);
    expect(await outside.query(sql`select from organisations where code = ${`BY-${signal}`}`)).toHaveLength(
      1,
    );
  },
);

async function waitingForLock(): Promise<bigint> {
  const { outside } = await world;
  const { waiting } = await outside.one<{ waiting: bigint }>(sql`
    select count(*) as waiting from pg_stat_activity
    where datname = current_database() and wait_event_type = 'Lock'`);
  return waiting;
}
