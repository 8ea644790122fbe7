import { join } from "node:path";
import { newId } from "@wonrail/kit/contract/ids";
import { sql, tx } from "@wonrail/kit/db";
import { type PromiseClient } from "@wonrail/kit/grpc/client";
import { type TestDatabase, viewer, wholeScans } from "@wonrail/kit/testing";
import { buildWorld } from "@wonrail/kit/testing/buildWorld";
import { OperatorRole } from "@wonrail/proto/common/v1/common";
import { OperationEnding, RelayerAdminServiceService } from "@wonrail/proto/relayer/v1/admin";
import { adminRpc } from "./adminRpc";
import { findDeposit, listDepositsOfTransaction } from "./deposits";
import { RpcRefusal } from "./evm";
import { findCursor } from "./indexer";
import { rewindCursor } from "./indexer/store/scanCursor";
import { saveWalletAddresses } from "./indexer/store/walletAddresses";
import { findReconciliation, listDriftsOfWallet, listSupplyPoints } from "./reconciliation";
import { saveDrifts } from "./reconciliation/store/drifts";
import { finishReconciliation } from "./reconciliation/store/reconciliation";
import { findSettledBalance } from "./reconciliation/store/settledBalances";
import { findRecords, findRecordWork } from "./records";
import {
  findSignerFunds,
  findSignerState,
  findTransactionByHash,
  listPendingTransactions,
  recordBalance,
} from "./sender";
import {
  countOperationsOf,
  countPausedQueues,
  countQueued,
  findOldestOpenSeconds,
  findOperationByChainId,
  findOperationsOfTransaction,
  listQueues,
  summarizeOpen,
} from "./settlement";
import { findOperationDetails, listStuckOperations } from "./settlement/store/operationDetails";
import { type ChainDouble, createChainDouble, cursorAt, OPERATOR, TOKEN } from "./testing/chainDouble";
import { ingestOperations, operationOf, signWaitingOperations } from "./testing/operations";

let database: TestDatabase;
let admin: PromiseClient<typeof RelayerAdminServiceService>;
let chain: ChainDouble;
const opening = buildWorld(async (open) => {
  database = await open.database({ schema: "chain_relayer", migrations: join(__dirname, "../migrations") });
  chain = createChainDouble();
  const deps = {
    ...{ db: database.db, network: "WON_TESTNET", reachChain: async () => chain.provider },
    ...{ signerAddress: OPERATOR.address, tokenAddress: TOKEN, correctHeads: async () => undefined },
  };
  const { address } = await open.server([adminRpc(deps)]);
  admin = open.client(RelayerAdminServiceService, address);
  return {};
});
beforeAll(() => opening);
afterAll(async () => (await opening).close());

const hitsOf = async (text: string) => (await admin.search({ operator: viewer, text })).hits;

test("an operation is found by its transaction's hash and its id on the chain", async () => {
  const orgId = newId("org");
  const operation = operationOf(newId("wal"), { orgId });
  await ingestOperations(database.db, [operation]);
  const txHash = await signWaitingOperations(database.db, OPERATOR, { nonce: 7n });
  const { ledgerRef } = operation;
  const hit = { kind: "operation", id: ledgerRef, orgId, title: "IN_FLIGHT operation, INTENT_KIND_PAYMENT" };
  const transaction = {
    kind: "transaction",
    id: txHash,
    orgId: "",
    title: "SIGNED transaction with nonce 7",
  };
  for (const text of [txHash, ` ${txHash.toUpperCase().replace("0X", "0x")}`])
    expect(await hitsOf(text)).toEqual([transaction, hit]);
  await database.db.run(sql`
    update operations set state = 'CONFIRMED', tx_hash = ${txHash}, block_hash = '0x1', block_number = 1
    where ledger_ref = ${ledgerRef}`);
  const confirmed = { ...hit, title: "CONFIRMED operation, INTENT_KIND_PAYMENT" };
  expect(await hitsOf(txHash)).toEqual([transaction, confirmed]);
  for (const text of [operation.operationId, `0x${operation.operationId}`])
    expect(await hitsOf(text)).toEqual([confirmed]);
  for (const text of ["", ledgerRef, `0x${"9".repeat(64)}`, "9".repeat(64)])
    expect(await hitsOf(text)).toEqual([]);
  for (const org of [undefined, orgId]) {
    const details = await admin.getOperationDetails({ operator: viewer, ref: ledgerRef, orgId: org });
    expect(JSON.parse(details.operationJson)).toMatchObject({ tx_hash: txHash, block_hash: "0x1" });
    expect(details.transactionsJson.map((row): unknown => JSON.parse(row))).toMatchObject([
      { tx_hash: txHash, nonce: "7", gas_limit: "100000", state: "SIGNED" },
    ]);
  }
  const elsewhere = admin.getOperationDetails({ operator: viewer, ref: ledgerRef, orgId: newId("org") });
  await expect(elsewhere).rejects.toMatchObject({ code: "REQ_001" });
});

test("the signer shows its nonces, its funds and its transactions with their operations", async () => {
  chain.nonces.set(OPERATOR.address, 8n);
  chain.balanceWei = 5_000n;
  await ingestOperations(database.db, [operationOf(), operationOf()]);
  const txHash = await signWaitingOperations(database.db, OPERATOR, { nonce: 9n });
  await recordBalance(database.db, OPERATOR.address, 6_000n);
  const signer = await admin.getSigner({ operator: viewer });
  expect(signer).toMatchObject({
    ...{ balanceWei: "5000", latestNonce: 8n, pendingNonce: 8n, nextNonce: 10n },
    ...{ leaseHolder: "this process", leaseEndsAt: expect.any(Date) },
    funds: { address: OPERATOR.address, balanceWei: "6000", spentWei: "0", lastsSeconds: undefined },
  });
  expect(signer.transactions.at(-1)).toMatchObject({
    ...{ nonce: 9n, state: "SIGNED", txHash, versions: 1, sends: 0, sentAt: undefined },
    ...{ gasLimit: 100_000n, maxFeeWei: "10000", operations: 2 },
  });
});

test("decreases of the balance are spending, top-ups are not, and the rate tells how long the rest lasts", async () => {
  const { db } = database;
  const address = `0x${"8".repeat(40)}`;
  const later = () =>
    db.run(sql`
      update signer_balances set measured_at = measured_at - interval '1 minute' where address = ${address}`);
  await recordBalance(db, address, 1_000n);
  // Too soon after the last measurement.
  await recordBalance(db, address, 1n);
  for (const balance of [900n, 2_000n, 1_700n]) {
    await later();
    await recordBalance(db, address, balance);
  }
  expect(await findSignerFunds(db, address)).toMatchObject({ balanceWei: 1_700n, spentWei: 400n });
  await db.run(sql`
    update signer_balances set hour = hour - interval '1 hour', began_at = measured_at - interval '1000 seconds'
    where address = ${address}`);
  await recordBalance(db, address, 1_600n);
  const { spentWei, spentOverSeconds } = await findSignerFunds(db, address);
  expect(spentWei).toBe(500n);
  expect(spentOverSeconds).toBeGreaterThanOrEqual(1_000);
  await db
    .run(sql`update signer_balances set hour = now() - interval '25 hours' where address = ${address}`)
    .catch(() => undefined);
});

test("open operations name the ways in which an operator can end them", async () => {
  const orgId = newId("org");
  const [taken, waiting] = [operationOf(newId("wal"), { orgId }), operationOf(newId("wal"), { orgId })];
  await ingestOperations(database.db, [taken, waiting]);
  await database.db.run(sql`
    update operations set state = 'PLANNED', wait_reason = 'name_taken' where ledger_ref = ${taken.ledgerRef}`);
  const list = async (undecided: boolean) => {
    const wanted = { operator: viewer, orgId, olderThanSeconds: 0, limit: 10, undecided };
    return (await admin.listOpenOperations(wanted)).operations;
  };
  const endings = [OperationEnding.SETTLED_ELSEWHERE, OperationEnding.SIGN_ANEW];
  expect(await list(true)).toMatchObject([{ ledgerRef: taken.ledgerRef, waitReason: "name_taken", endings }]);
  expect(await list(false)).toHaveLength(2);
  expect(await admin.getOperationDetails({ operator: viewer, ref: taken.ledgerRef })).toMatchObject({
    endings,
  });
  await database.db.run(sql`
    insert into drifts (org_id, wallet_id, kind, expected, actual, block_number)
    values (${orgId}, ${waiting.wallets[0]!}, 'CHAIN', 1, 2, 1)`);
  expect((await list(false)).map(({ waitReason }) => waitReason)).toContain("drift");
});

test("queues are listed page by page, with the entries that wait, and only the paused ones on demand", async () => {
  const orgIds = [newId("org"), newId("org"), newId("org")].sort();
  const [first, second, third] = orgIds;
  for (const orgId of orgIds) await ingestOperations(database.db, [operationOf(newId("wal"), { orgId })]);
  await database.db.run(sql`
    update settlement_queues set head_sequence = 4, cursor_sequence = 1, behind_since = '2026-11-01Z'
    where org_id = ${second!}`);
  await database.db.run(sql`
    update operations set state = 'BLOCKED', wait_reason = 'unreadable' where org_id = ${third!}`);
  await admin.pauseQueue({
    operator: { ...viewer, roles: [OperatorRole.ADMIN], reason: "test" },
    orgId: third!,
  });
  const listed = await admin.listQueues({ operator: viewer, afterOrgId: first, limit: 2, pausedOnly: false });
  expect(listed.queues).toMatchObject([
    { orgId: second, queued: 3n, queuedSince: new Date("2026-11-01Z"), waiting: 1, blocked: 0 },
    { orgId: third, queued: 0n, waiting: 0, blocked: 1, pausedReason: "test (viewer)" },
  ]);
  const paused = await admin.listQueues({ operator: viewer, limit: 0, pausedOnly: true });
  expect(paused.queues.map(({ orgId }) => orgId)).toEqual([third]);
  const own = await admin.listQueues({ operator: viewer, limit: 0, pausedOnly: false, orgId: second });
  expect(own.queues.map(({ orgId }) => orgId)).toEqual([second]);
});

test("a deposit is found by its hash and by the ledger's id, with its state", async () => {
  const [orgId, walletId, ledgerRef] = [newId("org"), newId("wal"), newId("trf")];
  const txHash = `0x${"d".repeat(64)}`;
  await database.db.run(sql`
    insert into deposits (tx_hash, log_index, block_number, block_hash, org_id, wallet_id, from_address, units,
      amount_won, ledger_ref, state, attempts, refusal)
    values (${txHash}, 3, 9, '0x9', ${orgId}, ${walletId}, '0xf', 1500000, 1, ${ledgerRef}, 'SEEN', 2, 'WAL_002')`);
  const hit = { kind: "deposit", id: ledgerRef, orgId, title: "SEEN deposit of 1 KRW" };
  for (const text of [txHash, ledgerRef]) expect(await hitsOf(text)).toEqual([hit]);
  expect(await admin.getDeposit({ operator: viewer, ledgerRef })).toMatchObject({
    ...{ orgId, walletId, fromAddress: "0xf", txHash, logIndex: 3, blockNumber: 9n, units: "1500000" },
    ...{ amountWon: "1", state: "SEEN", attempts: 2, refusal: "WAL_002", creditedAt: undefined },
  });
  const unknown = admin.getDeposit({ operator: viewer, ledgerRef: newId("trf") });
  await expect(unknown).rejects.toMatchObject({ code: "REQ_001" });
});

test("a recorded transaction is found by its hash and id, with the call that made it", async () => {
  const [orgId, recordId] = [newId("org"), newId("txn")];
  const txHash = `0x${"e".repeat(64)}`;
  await database.db.run(sql`
    insert into records (org_id, record_id, from_network, to_network, payment_type, from_address, to_address, tx_hash,
      amount, status, run, run_at, version, request_id, traceparent, created_at, updated_at, idempotency_key, body_hash)
    values (${orgId}, ${recordId}, 'WON_TESTNET', 'WON_TESTNET', 'INSTANT', '0xa', '0xb', ${txHash}, 5, 'PENDING',
      'WATCHED', now(), 1, 'req_1', ${`00-${"a".repeat(32)}-${"b".repeat(16)}-01`}, now(), now(), 'order 7', '')`);
  const hit = { kind: "record", id: recordId, orgId, title: "PENDING INSTANT record" };
  for (const text of [txHash, recordId]) expect(await hitsOf(text)).toEqual([hit]);
  expect(await admin.getRecordDetails({ operator: viewer, recordId })).toMatchObject({
    ...{ orgId, run: "WATCHED", runAt: expect.any(Date), requestId: "req_1", traceId: "a".repeat(32) },
    ...{ idempotencyKey: "order 7", transferId: undefined, record: { id: recordId, fields: { txHash } } },
  });
});

test("a wallet's balance on the chain stands beside the balance that the read transfers explain", async () => {
  const [orgId, walletId] = [newId("org"), newId("wal")];
  await saveWalletAddresses(database.db, [{ walletId, orgId, address: `0x${"c".repeat(40)}` }]);
  await cursorAt(database.db, 1_000n);
  await database.db.run(sql`
    insert into settled_balances (org_id, account_id, units, unbooked_units) values (${orgId}, ${walletId}, 40, 4)`);
  const drift = { orgId, walletId, kind: "CHAIN" as const, subject: "", blockNumber: 1_000n };
  await saveDrifts(database.db, [{ ...drift, expected: 40n, actual: 41n }]);
  chain.tokenUnits = 41n;
  expect(await admin.getChainBalance({ operator: viewer, orgId, walletId })).toMatchObject({
    ...{ balanceUnits: "41", blockNumber: 1_000n, expectedUnits: "40", unbookedUnits: "4", blocked: false },
    openDrifts: [{ kind: "CHAIN", expected: "40", actual: "41" }],
  });
  // During a rescan the book still belongs to the furthest block. The token may not exist at the cursor's.
  await tx(database.db, (tx) => rewindCursor(tx, { blockNumber: 10n, blockHash: "0xa", blockTime: 10n }));
  expect(await admin.getChainBalance({ operator: viewer, orgId, walletId })).toMatchObject({
    ...{ balanceUnits: "41", blockNumber: 1_000n, expectedUnits: "40" },
  });
  await cursorAt(database.db, 1_000n);
  const asked = jest.spyOn(chain.provider, "callAt").mockRejectedValue(new RpcRefusal(-32000, "no state"));
  const refused = admin.getChainBalance({ operator: viewer, orgId, walletId });
  await expect(refused).rejects.toMatchObject({ code: "SYS_002" });
  asked.mockRestore();
  const unknown = admin.getChainBalance({ operator: viewer, orgId, walletId: newId("wal") });
  await expect(unknown).rejects.toMatchObject({ code: "REQ_001" });
});

test("the reconciliation shows the last comparison, and the supply at the end of each hour", async () => {
  const { db } = database;
  await finishReconciliation(db, { blockNumber: 7n, supplyUnits: 100n, walletUnits: 60n });
  await db.run(sql`update supply_points set hour = hour - interval '1 hour'`);
  await finishReconciliation(db, { blockNumber: 8n, supplyUnits: 110n, walletUnits: 70n });
  await finishReconciliation(db, { blockNumber: 9n, supplyUnits: 120n, walletUnits: 80n });
  const { comparison, supply } = await admin.getReconciliation({ operator: viewer, hours: 24 });
  expect(comparison).toMatchObject({ blockNumber: 9n, finishedAt: expect.any(Date) });
  expect(supply).toMatchObject([
    { blockNumber: 7n, supplyUnits: "100", walletUnits: "60" },
    { blockNumber: 9n, supplyUnits: "120", walletUnits: "80" },
  ]);
  expect((await admin.getReconciliation({ operator: viewer, hours: 1 })).supply).toHaveLength(1);
});

test("the overview joins queue, signer, comparison and the last read block", async () => {
  const overview = await admin.getOverview({ operator: viewer });
  expect(overview).toMatchObject({
    ...{ queued: 3n, pausedQueues: 1, readBlock: { number: 1_000n } },
    signer: { address: OPERATOR.address, balanceWei: "6000" },
    comparison: { blockNumber: 9n },
  });
  expect(overview.open).toContainEqual(expect.objectContaining({ state: "BLOCKED", reason: "unreadable" }));
  expect(overview.comparison!.openDrifts).toContainEqual({ kind: "CHAIN", drifts: 2, units: "2" });
});

test("no view reads a growing table whole, but open drifts and one row per organisation", async () => {
  const [orgId, walletId, ref] = [newId("org"), newId("wal"), newId("pay")];
  const wanted = { olderThanSeconds: 0, orgId: null, limit: 100 };
  const scans = await wholeScans(database.db, async (db) => {
    for (const isUndecided of [true, false]) await listStuckOperations(db, { ...wanted, isUndecided });
    for (const known of [orgId, null]) await findOperationDetails(db, ref, known);
    for (const isPausedOnly of [true, false])
      await listQueues(db, { orgId: null, afterOrgId: "", isPausedOnly, limit: 100 });
    await countPausedQueues(db);
    await summarizeOpen(db);
    await findOldestOpenSeconds(db);
    await findOperationsOfTransaction(db, 1n, 20);
    await findOperationByChainId(db, "a");
    await countOperationsOf(db, [1n]);
    await findTransactionByHash(db, "0x");
    await listPendingTransactions(db, OPERATOR.address, 100);
    await findSignerState(db, OPERATOR.address);
    await findSignerFunds(db, OPERATOR.address);
    await findDeposit(db, ref);
    await listDepositsOfTransaction(db, "0x", 20);
    await findRecords(db, "txn_1", 20);
    await findRecordWork(db, "txn_1");
    await findSettledBalance(db, orgId, walletId);
    await listDriftsOfWallet(db, walletId, 20);
    await listSupplyPoints(db, 744);
  });
  expect(scans).toEqual([]);
  const shared = await wholeScans(database.db, async (db) => {
    await findReconciliation(db);
    await findCursor(db);
    await countQueued(db);
  });
  expect(shared).toEqual(["reconciliation", "scan_cursor", "settlement_queues"]);
});
