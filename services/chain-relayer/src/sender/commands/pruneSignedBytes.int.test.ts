import { sql } from "@wonrail/kit/db";
import { rowsRead } from "@wonrail/kit/testing";
import { findOperationDetails } from "../../settlement/store/operationDetails";
import { pruneFinalBytes } from "../store/transactions";
import { pruneSignedBytes } from "./pruneSignedBytes";
import { OPERATOR } from "../../testing/chainDouble";
import { analyze, freshDatabase } from "../../testing/database";
import { signWaitingOperations, operationOf, ingestOperations } from "../../testing/operations";

const database = freshDatabase();
const NEVER = new AbortController().signal;

test("final and lost transactions lose their bytes after a month, in several batches", async () => {
  const { db } = database;
  const operations = Array.from({ length: 6 }, () => operationOf());
  for (const [nonce, operation] of operations.entries()) {
    await ingestOperations(db, [operation]);
    await signWaitingOperations(db, OPERATOR, { nonce: BigInt(nonce) });
  }
  const ages = ["FINAL 31", "LOST 31", "FINAL 31", "SENT 31", "FINAL 31", "FINAL 29"];
  for (const [nonce, age] of ages.entries()) {
    const [state, days] = age.split(" ") as [string, string];
    await db.run(sql`
      update transactions set state = ${state}, created_at = now() - make_interval(days => ${Number(days)}) where nonce = ${nonce}`);
  }
  const bytesWalk = { after: 0n };
  await pruneSignedBytes({ db, bytesWalk }, NEVER, 2);
  expect(await areBare()).toEqual([true, false, true, false, true, false]);
  const story = await findOperationDetails(db, operations[0]!.ledgerRef);
  expect(story!.transactions).toMatchObject([{ state: "FINAL", max_fee_wei: 10_000n }]);

  // A newly aged transaction is found without reading the others again.
  await db.run(sql`update transactions set created_at = now() - interval '31 days' where nonce = 5`);
  await pruneSignedBytes({ db, bytesWalk }, NEVER, 2);
  expect((await areBare()).at(-1)).toBe(true);
  expect(bytesWalk.after).toBe(6n);
});

test("pruned transactions are not read again after a start", async () => {
  const { db } = database;
  await ingestOperations(db, [operationOf()]);
  await signWaitingOperations(db, OPERATOR, { nonce: 0n });
  await db.run(sql`update transactions set state = 'FINAL', created_at = now() - interval '31 days'`);
  await db.run(sql`
    insert into transactions (signer, nonce, epoch, recipient, call_data, gas_limit, state, created_at)
    select signer, n, epoch, recipient, '', gas_limit, 'FINAL', created_at from transactions, generate_series(1, 3000) as n`);
  await db.run(sql`
    insert into transaction_versions (tx_hash, transaction_id, raw, max_fee_wei, priority_fee_wei)
    select '0x' || nonce, transaction_id, '', 1, 1 from transactions where nonce > 0`);
  const tables = ["transactions", "transaction_versions"];
  for (const table of tables) await analyze(database, table);
  for (const table of tables) {
    const read = await rowsRead(db, table, (tx) => pruneFinalBytes(tx, 0n, 100));
    expect(read).toBeLessThan(20);
  }
  expect(new Set(await areBare())).toEqual(new Set([true]));
});

/** Whether each transaction has lost its bytes and its call. */
async function areBare(): Promise<boolean[]> {
  const rows = await database.db.query<{ raw: number; call: number }>(sql`
    select length(raw) as raw, length(call_data) as call from transactions join transaction_versions using (transaction_id)
    order by nonce`);
  return rows.map(({ raw, call }) => raw + call === 0);
}
