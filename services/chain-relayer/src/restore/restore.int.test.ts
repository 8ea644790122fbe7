import { join } from "node:path";
import { actionsOf, createAdminService, listOperatorActions } from "@wonrail/kit/admin";
import { newId } from "@wonrail/kit/contract/ids";
import { sql, tx } from "@wonrail/kit/db";
import { type PromiseClient } from "@wonrail/kit/grpc/client";
import { type TestDatabase } from "@wonrail/kit/testing";
import { buildWorld } from "@wonrail/kit/testing/buildWorld";
import { AdminServiceService } from "@wonrail/proto/common/v1/admin";
import { OperatorRole } from "@wonrail/proto/common/v1/common";
import { RelayerAdminServiceService } from "@wonrail/proto/relayer/v1/admin";
import { adminRpc } from "../adminRpc";
import { acknowledgeDrifts, saveDrifts } from "../reconciliation/store/drifts";
import { finishReconciliation } from "../reconciliation/store/reconciliation";
import { moveHeads, setQueuePause } from "../settlement/store/settlementQueues";
import { type ChainDouble, createChainDouble } from "../testing/chainDouble";

const operator = { name: "first", roles: [OperatorRole.ADMIN], reason: "disk lost" };
const second = { ...operator, name: "second" };

let database: TestDatabase;
let chain: ChainDouble;
let admin: PromiseClient<typeof RelayerAdminServiceService>;
let common: PromiseClient<typeof AdminServiceService>;
/** An organisation that only the ledger knows. */
const unseen = newId("org");
const [paused, running] = [newId("org"), newId("org")];

const opening = buildWorld(async (open) => {
  database = await open.database({
    schema: "chain_relayer",
    migrations: join(__dirname, "../../migrations"),
  });
  chain = createChainDouble();
  const { db } = database;
  const service = adminRpc({
    ...{
      db,
      network: "WON_TESTNET",
      signerAddress: `0x${"5".repeat(40)}`,
      tokenAddress: `0x${"7".repeat(40)}`,
    },
    reachChain: async () => chain.provider,
    correctHeads: () => moveHeads(db, [{ orgId: unseen, sequence: 1n }]),
  });
  const every = createAdminService(
    { db, service: "chain-relayer", commit: "0", topic: undefined },
    actionsOf([service]),
  );
  const { address } = await open.server([service, every]);
  admin = open.client(RelayerAdminServiceService, address);
  common = open.client(AdminServiceService, address);
  return {};
});
beforeAll(() => opening);
afterAll(async () => (await opening).close());

test("a restore pauses every queue, and ends once the books are compared and every difference is explained", async () => {
  const { db } = database;
  const heads = [paused, running].map((orgId) => ({ orgId, sequence: 1n }));
  await moveHeads(db, heads);
  await setQueuePause(db, paused, "asked to by the bank");
  expect(await getRestore()).toMatchObject({ restore: undefined, finalBlock: chain.final, obstacles: [] });
  await expect(admin.resumeAfterRestore({ operator })).rejects.toMatchObject({
    details: { fields: [{ message: "no restore is under way" }] },
  });

  const prepared = await admin.prepareRestore({ operator });
  expect(prepared).toMatchObject({
    pausedQueues: 2,
    restore: { finalBlock: chain.final, preparedBy: "first" },
  });
  expect(await pauses()).toEqual({
    [paused]: "asked to by the bank",
    [running]: expect.stringContaining("restore 1: disk lost (first)"),
    [unseen]: expect.stringContaining("restore 1: disk lost (first)"),
  });
  expect(await admin.prepareRestore({ operator })).toEqual({ ...prepared, pausedQueues: 0 });
  expect(await listOperatorActions(db, { limit: 9 })).toMatchObject([
    { method: "wonrail.relayer.v1.RelayerAdminService/PrepareRestore", subject: "restore 1" },
  ]);

  expect((await getRestore()).obstacles).toEqual([expect.stringContaining("not compared up to block 1000")]);
  await finishReconciliation(db, { blockNumber: chain.final, supplyUnits: 0n, walletUnits: 0n });
  const place = { orgId: running, walletId: newId("wal"), kind: "LEDGER" as const, subject: "" };
  await saveDrifts(db, [{ ...place, expected: 0n, actual: 5n, blockNumber: chain.final }]);
  const { obstacles, differences } = await getRestore();
  expect(obstacles).toEqual([expect.stringContaining("1 differences are not acknowledged")]);
  expect(differences).toMatchObject([{ walletId: place.walletId, expected: "0", actual: "5" }]);
  await expect(admin.resumeAfterRestore({ operator })).rejects.toMatchObject({
    details: { fields: [{ message: expect.stringContaining("1 differences are not acknowledged") }] },
  });

  await tx(db, (tx) => acknowledgeDrifts(tx, { walletId: place.walletId }, "second"));
  const { proposal } = await admin.resumeAfterRestore({ operator });
  expect(Object.values(await pauses())).not.toContain(null);
  await common.approveProposal({ operator: second, proposalId: proposal!.proposalId });
  expect(await pauses()).toEqual({ [paused]: "asked to by the bank", [running]: null, [unseen]: null });
  expect((await getRestore()).restore).toBeUndefined();
  const next = await admin.prepareRestore({ operator });
  expect(next.restore!.restoreId).not.toBe(prepared.restore!.restoreId);
});

function getRestore() {
  return admin.getRestore({ operator, limit: 100 });
}

async function pauses(): Promise<Record<string, string | null>> {
  const rows = await database.db.query<{ orgId: string; reason: string | null }>(
    sql`select org_id as "orgId", paused_reason as reason from settlement_queues`,
  );
  return Object.fromEntries(rows.map(({ orgId, reason }) => [orgId, reason]));
}
