import { sql } from "@wonrail/kit/db";
import { newId } from "@wonrail/kit/contract/ids";
import { rowsRead } from "@wonrail/kit/testing";
import { analyze, freshDatabase } from "../../testing/database";
import { operationOf, ingestOperations } from "../../testing/operations";
import { setQueuePause } from "./settlementQueues";
import { findOperationDetails, listOpenCounts, type OperationDetails } from "./operationDetails";

const database = freshDatabase();

test("an operation's details are found by either of its ids without reading others", async () => {
  const operation = operationOf();
  await ingestOperations(database.db, [operation, operationOf(newId("wal"), { orgId: newId("org") })]);
  await database.db.run(sql`
    insert into operations select (jsonb_populate_record(o, jsonb_build_object(
      'ledger_ref', ledger_ref || '_' || n, 'operation_id', lpad(to_hex(n), 64, '0')))).*
    from operations o, generate_series(1, 3000) as n where ledger_ref = ${operation.ledgerRef}`);
  await database.db.run(sql`
    insert into legs select from_wallet_id, nonce || '_' || n, org_id, ledger_ref || '_' || n from legs, generate_series(1, 3000) as n`);
  const { fromWalletId, nonce } = operation.steps[0]!;
  await database.db.run(sql`
    insert into used_authorizations select ${fromWalletId}, ${nonce}::text || case n when 0 then '' else '_' || n end, '0x' || n, 1, '0xb'
    from generate_series(0, 3000) as n`);
  for (const table of TABLES) await analyze(database, table);

  for (const ref of [operation.ledgerRef, `0x${operation.operationId}`]) {
    let story: OperationDetails | undefined;
    for (const table of TABLES) {
      const read = await rowsRead(
        database.db,
        table,
        async (tx) => (story = await findOperationDetails(tx, ref)),
      );
      expect(read).toBeLessThan(20);
    }
    expect(story).toMatchObject({
      operation: { ledger_ref: operation.ledgerRef },
      authorizations: [{ from_wallet_id: fromWalletId, nonce, tx_hash: "0x0" }],
    });
  }
});
const TABLES = ["operations", "legs", "used_authorizations"];

test("unfinished operations are counted by state and wait reason, with the age of the oldest", async () => {
  const { db } = database;
  const operations = Array.from({ length: 7 }, () => operationOf());
  await ingestOperations(db, operations);
  const become = (from: number, until: number, state: string, reason: string | null, ageSeconds: number) =>
    db.run(sql`
      update operations set state = ${state}, wait_reason = ${reason}, created_at = now() - make_interval(secs => ${ageSeconds})
      where ledger_ref = any(${operations.slice(from, until).map(({ ledgerRef }) => ledgerRef)}::text[])`);
  await become(0, 2, "WAITING", null, 100);
  await become(1, 2, "WAITING", null, 300);
  await become(2, 3, "PLANNED", "custody_drift", 200);
  await become(3, 5, "PLANNED", "fee_cap", 400);
  await become(5, 6, "PLANNED", null, 500);
  await become(6, 7, "PASSED", null, 900);

  const counts = await listOpenCounts(db);
  const openCounts = counts.map(({ oldestSeconds, pausedSeconds, ...of }) => {
    expect(pausedSeconds).toBe(0);
    return { ...of, oldest: Math.round(oldestSeconds / 100) };
  });
  expect(openCounts).toHaveLength(4);
  expect(openCounts).toEqual(
    expect.arrayContaining([
      { state: "WAITING", reason: "", count: 2, oldest: 3 },
      { state: "PLANNED", reason: "", count: 1, oldest: 5 },
      { state: "PLANNED", reason: "custody_drift", count: 1, oldest: 2 },
      { state: "PLANNED", reason: "fee_cap", count: 2, oldest: 4 },
    ]),
  );
});

test("a count reads only the counted rows, also in a paused queue", async () => {
  const { db } = database;
  const [operation, other] = [operationOf(), operationOf(newId("wal"), { orgId: newId("org") })];
  await ingestOperations(db, [operation, other]);
  await db.run(sql`
    insert into operations select (jsonb_populate_record(o, jsonb_build_object('ledger_ref', ledger_ref || '_' || n,
      'operation_id', lpad(to_hex(n), 64, '0'), 'created_at', created_at - n * interval '1 s'))).*
    from operations o, generate_series(1, 3000) as n where ledger_ref = ${operation.ledgerRef}`);
  await setQueuePause(db, operation.orgId, "asked to by the bank");
  await analyze(database, "operations");
  const read = await rowsRead(db, "operations", async (tx) => {
    const [all, ...others] = await listOpenCounts(tx, 50);
    expect([all, others]).toMatchObject([{ state: "WAITING", reason: "", count: 50 }, []]);
    expect(all!.pausedSeconds).toBeGreaterThanOrEqual(3000);
    expect(all!.oldestSeconds).toBeLessThan(1000);
  });
  expect(read).toBeLessThan(200);
});
