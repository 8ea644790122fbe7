import { sql } from "@wonrail/kit/db";
import { newId } from "@wonrail/kit/contract/ids";
import { freshDatabase } from "../../testing/database";
import { operationOf, ingestOperations } from "../../testing/operations";
import { listExpectedBalances } from "./settledBalances";

const database = freshDatabase();

test("a hold paid to an outside address counts for a day or until the ledger captures it", async () => {
  const walletId = newId("wal");
  const hold = operationOf(walletId, { kind: "INTENT_KIND_PLACE_HOLD" });
  const { orgId, ledgerRef } = hold;
  await ingestOperations(database.db, [hold]);
  const leaving = async (of = orgId) =>
    (await listExpectedBalances(database.db, of, [walletId])).get(walletId)!.units;
  expect(await leaving()).toBe(0n);
  await database.db.run(sql`update operations set state = 'CONFIRMED', tx_hash = '0x1', block_hash = '0x1'`);
  expect(await leaving()).toBe(1_000_000n);
  expect(await leaving(newId("org"))).toBe(0n);

  await database.db.run(sql`update operations set updated_at = now() - interval '25 hours'`);
  expect(await leaving()).toBe(0n);
  await database.db.run(sql`update operations set updated_at = now() - interval '23 hours'`);
  expect(await leaving()).toBe(1_000_000n);
  await ingestOperations(database.db, [
    operationOf(walletId, { kind: "INTENT_KIND_POST_HOLD", relatedId: ledgerRef, steps: [] }),
  ]);
  expect(await leaving()).toBe(0n);
});
