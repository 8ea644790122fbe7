import { openDatabase, rawSql, sql, tx } from "@wonrail/kit/db";
import { idToUuid, newId } from "@wonrail/kit/contract/ids";
import { eventually, testLog } from "@wonrail/kit/testing";
import { codeOf, postTo, requestOf, soundLedger, testEngine } from "./testing/ledger";

const ledger = soundLedger();

test("two replicas that open the same accounts in opposite orders do not deadlock", async () => {
  const { database, orgId } = ledger;
  await ledger.open();
  const options = { url: database.url, schema: "ledger", applicationName: "replica", log: testLog() };
  const replicas = [openDatabase(options), openDatabase(options)];
  const engines = replicas.map((db) => testEngine({ db }));
  const wallets = [newId("wal", 1), newId("wal", 2), newId("wal", 3)];
  const opens = wallets.map((walletId) =>
    requestOf(orgId, { kind: "openAccount", walletId, userId: walletId, type: "NORMAL" }),
  );
  // A third transaction locks the middle account until both replicas wait for it or for each other,
  // and then releases it.
  let both: Promise<string[]>[] = [];
  const held = tx(database.db, async (tx) => {
    await tx.run(sql`
      insert into accounts (org_id, id, type, user_id, opened_at)
      values (${idToUuid(orgId)}, ${idToUuid(wallets[1]!)}, 1, 'somebody', now())`);
    both = [opens, [...opens].reverse()].map(async (requests, replica) =>
      (await Promise.all(requests.map((request) => postTo(engines[replica]!, request)))).map(codeOf),
    );
    await eventually(() => expectCount(`${REPLICAS} and wait_event_type = 'Lock'`, 2n));
    throw new Error("given up");
  });
  await expect(held).rejects.toThrow("given up");
  expect(await Promise.all(both)).toEqual([Array(3).fill("posted"), Array(3).fill("posted")]);
  await Promise.all(engines.map((engine) => engine.close()));
  // A connection reports its statistics at the latest when it ends.
  await Promise.all(replicas.map((db) => db.close()));
  await eventually(() => expectCount(REPLICAS, 0n));
  await expectCount("pg_stat_database where datname = current_database() and deadlocks > 0", 0n);
}, 30_000);

const REPLICAS = "pg_stat_activity where application_name like 'replica%' and datname = current_database()";

async function expectCount(rows: string, count: bigint): Promise<void> {
  expect(await ledger.database.db.one(rawSql(`select count(*) from ${rows}`))).toEqual({ count });
}
