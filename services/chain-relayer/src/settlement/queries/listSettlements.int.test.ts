import { newId } from "@wonrail/kit/contract/ids";
import { sql, tx } from "@wonrail/kit/db";
import { OPERATOR } from "../../testing/chainDouble";
import { freshDatabase } from "../../testing/database";
import { signWaitingOperations, operationOf, ingestOperations } from "../../testing/operations";
import { findByOperationIds, markConfirmed, markFailed, replanOperations } from "../store/operations";
import { listSettlements } from "./listSettlements";

const database = freshDatabase();
const BLOCK = { txHash: "0xc0", blockNumber: 2n, blockHash: "0xb0", gasUsed: 1n };
const PROOF = { reason: "expired", blockNumber: 3n, blockHash: "0xb1", blockTime: 4n };

const list = (orgId: string, { afterRef = "", limit = 1_000 } = {}) =>
  listSettlements({ db: database.db, chain: { network: "WON_TESTNET" } }, { orgId, afterRef, limit });

test("operations are listed as their newest event says, and left out before their first", async () => {
  const { db } = database;
  const sent = Array.from({ length: 4 }, () => operationOf());
  const orgId = sent[0]!.orgId;
  await ingestOperations(db, sent);
  const txHash = await signWaitingOperations(db, OPERATOR, { nonce: 0n });
  await ingestOperations(db, [operationOf()]);
  const [inFlight, returned, confirmed, failed] = sent;
  const found = await findByOperationIds(
    db,
    sent.map(({ operationId }) => operationId),
  );
  const operation = (of: typeof inFlight) => found.get(of!.operationId)!;
  await tx(db, async (tx) => {
    await replanOperations(tx, [returned!], "not_executed", 0);
    await markConfirmed(tx, [{ operation: operation(confirmed), ...BLOCK }]);
    await markFailed(tx, operation(failed), PROOF);
  });

  const listed = await list(orgId);
  expect(listed.map(({ ledgerRef }) => ledgerRef)).toEqual(sent.map(({ ledgerRef }) => ledgerRef).sort());
  const byRef = new Map(listed.map((one) => [one.ledgerRef, one]));
  const open = { status: "SUBMITTED", version: 1n, txHash, blockNumber: null, failure: null };
  expect(byRef.get(inFlight!.ledgerRef)).toMatchObject({ ...open, network: "WON_TESTNET" });
  expect(byRef.get(returned!.ledgerRef)).toMatchObject(open);
  expect(byRef.get(confirmed!.ledgerRef)).toMatchObject({
    ...{ status: "CONFIRMED", version: 2n, txHash: "0xc0", blockNumber: 2n, failure: null },
  });
  expect(byRef.get(failed!.ledgerRef)).toMatchObject({
    ...{ status: "FAILED", version: 2n, txHash: null, blockNumber: null },
    failure: { reason: "expired", blockNumber: 3n, blockHash: "0xb1" },
  });
});

test("pages join operations and deposits in id order, of one organisation only", async () => {
  const { db } = database;
  const operations = Array.from({ length: 5 }, () => operationOf());
  const orgId = operations[0]!.orgId;
  await ingestOperations(db, operations);
  await signWaitingOperations(db, OPERATOR, { nonce: 0n });
  const refs = Array.from({ length: 5 }, () => newId("trf"));
  for (const [index, ref] of refs.entries())
    await db.run(sql`
      insert into deposits (tx_hash, log_index, block_number, block_hash, org_id, wallet_id, from_address, units,
        amount_won, ledger_ref, state, credited_at)
      values ('0xd0', ${index}, 7, '0xb0', ${index === 4 ? newId("org") : orgId}, ${newId("wal")}, '0xf0', 1000000,
        1, ${ref}, ${index === 3 ? "SEEN" : "CREDITED"}, ${index === 3 ? null : new Date()})`);
  const wanted = [...operations.map(({ ledgerRef }) => ledgerRef), ...refs.slice(0, 3)].sort();
  const pages: string[][] = [];
  for (let afterRef = ""; ; afterRef = pages.at(-1)!.at(-1)!) {
    const page = await list(orgId, { afterRef, limit: 3 });
    if (page.length === 0) break;
    pages.push(page.map(({ ledgerRef }) => ledgerRef));
  }
  expect(pages.map(({ length }) => length)).toEqual([3, 3, 2]);
  expect(pages.flat()).toEqual(wanted);
  const deposit = (await list(orgId)).find(({ ledgerRef }) => ledgerRef === refs[0]);
  expect(deposit).toMatchObject({
    ...{ status: "CONFIRMED", version: 1n, txHash: "0xd0", blockNumber: 7n, fromAddress: "0xf0" },
  });
});
