import { join } from "node:path";
import { setTimeout as sleep } from "node:timers/promises";
import { openDatabase, sql } from "@wonrail/kit/db";
import { createClient } from "@wonrail/kit/grpc/client";
import { newId } from "@wonrail/kit/contract/ids";
import { migrate, provisionSchema } from "@wonrail/kit/migrate";
import { eventually, type Proxy, startProxy, testLog, testRegistry } from "@wonrail/kit/testing";
import { chargeOf } from "@wonrail/ledger/domain/testing/requests";
import { messageOf, requestOf, transferOf } from "@wonrail/ledger/commands/testing/ledger";
import { type Replica, startReplica } from "@wonrail/ledger/commands/testing/replica";
import { type LedgerRequest } from "@wonrail/ledger/domain/types";
import { verifyAll } from "@wonrail/ledger/queries/verify";
import { LedgerServiceService, type PostOutcome } from "@wonrail/proto/ledger/v1/ledger";
import { type Pair, startPair } from "./pair";

const MIGRATIONS = join(__dirname, "../../services/ledger/migrations");
const PASSWORDS = { rolePassword: "test", ownerPassword: "test" };
const CALLERS = 8;
const START_WON = 1_000_000n;
const SCHEMA = "ledger";
const reader = { schema: SCHEMA, applicationName: "test", log: testLog() };
const REFUSED = { message: "Connection terminated: the server is a read-only stand-by" };

let pair: Pair;
let proxy: Proxy;
let replica: Replica;
let urlOf: (part: { host: string; port: number }) => string;

beforeAll(async () => {
  pair = await startPair();
  const { primary } = pair;
  const schema = await provisionSchema({ adminUrl: primary.adminUrl, schema: SCHEMA, ...PASSWORDS });
  await migrate({ url: schema.ownerUrl, schema: SCHEMA, dir: MIGRATIONS, log: testLog() });
  proxy = await startProxy({ target: primary });
  urlOf = ({ host, port }) => Object.assign(new URL(schema.url), { host: `${host}:${port}` }).toString();
  replica = await startReplica(urlOf(proxy), { DATABASE_STANDBY: "true" });
}, 120_000);
afterAll(async () => {
  await replica?.stop();
  await proxy?.close();
  await pair?.remove();
});

test("a failover to the stand-by keeps acknowledged entries and executes the others once", async () => {
  const orgId = newId("org");
  const client = createClient(LedgerServiceService, {
    ...{ name: "ledger", address: replica.address, log: testLog(), registry: testRegistry() },
    defaultTimeoutMs: 5_000,
  });
  const post = async (request: LedgerRequest): Promise<PostOutcome> =>
    (await client.postBulk({ items: [messageOf(request)] })).outcomes[0]!;
  const wallets = Array.from({ length: CALLERS }, () => newId("wal"));
  for (const [number, walletId] of wallets.entries()) {
    const open = { kind: "openAccount", walletId, userId: `user-${number}`, type: "NORMAL" } as const;
    await post(requestOf(orgId, open));
    await post(requestOf(orgId, chargeOf(walletId, START_WON)));
  }
  const acknowledged: { request: LedgerRequest; first: PostOutcome }[] = [];
  const codes = new Set<string>();
  let going = true;
  const caller = async (number: number): Promise<void> => {
    while (going) {
      const request = requestOf(orgId, transferOf(wallets[number]!, wallets[(number + 1) % CALLERS]!, 1n));
      acknowledged.push({ request, first: await untilAnswered(() => post(request), codes) });
    }
  };
  const calling = Promise.all(wallets.map((_, number) => caller(number)));
  const more = async (count: number) => {
    const before = acknowledged.length;
    await eventually(() => expect(acknowledged.length).toBeGreaterThan(before + count), {
      timeoutMs: 60_000,
    });
  };

  await more(500);
  expect(await replica.metrics()).toContain("pg_waits_for_standby 1\n");
  await pair.losePrimary(500);
  const { length: atTheLoss } = acknowledged;
  // The address moves before the stand-by is promoted. Reads there could miss the newest entries.
  proxy.setTarget(pair.standby);
  await eventually(() => expect([...codes]).toContain("SYS_002"), { timeoutMs: 30_000 });
  const onStandby = openDatabase({ ...reader, url: urlOf(proxy) });
  await expect(onStandby.ping()).rejects.toMatchObject({ code: "SYS_002", cause: REFUSED });
  await expect(onStandby.dedicated((one) => one.query(sql`select 1`))).rejects.toMatchObject({
    ...{ code: "SYS_002", cause: REFUSED },
  });
  await onStandby.close();
  await sleep(1_000);
  expect(acknowledged).toHaveLength(atTheLoss);
  await pair.promote();
  await more(500);
  going = false;
  await calling;

  expect([...codes].filter((code) => !["SYS_002", "SYS_003"].includes(code))).toEqual([]);
  for (let at = 0; at < acknowledged.length; at += 100) {
    const some = acknowledged.slice(at, at + 100);
    const { outcomes } = await client.postBulk({ items: some.map(({ request }) => messageOf(request)) });
    expect(outcomes).toEqual(some.map(({ first }) => ({ ...first, replayed: true })));
  }
  client.close();
  const db = openDatabase({ ...reader, url: urlOf(pair.standby) });
  const { entries } = await db.one<{ entries: bigint }>(sql`select count(*) as entries from entries`);
  expect(Number(entries)).toBe(acknowledged.length + 2 * CALLERS);
  await eventually(async () => expect(await db.query(sql`select id from outbox_pending`)).toEqual([]));
  const { results } = await verifyAll(db);
  await db.close();
  expect(results.flatMap(({ violations }) => violations)).toEqual([]);
}, 240_000);

/** Repeats a request until its answer, as payment does. */
async function untilAnswered(post: () => Promise<PostOutcome>, codes: Set<string>): Promise<PostOutcome> {
  for (const endMs = Date.now() + 120_000; Date.now() < endMs; await sleep(50)) {
    try {
      const answer = await post();
      if (answer.outcome?.$case === "posted") return answer;
      codes.add(answer.outcome?.value.code ?? "no answer");
    } catch (error) {
      codes.add((error as { code: string }).code);
    }
  }
  throw new Error("never answered");
}
