import { newId } from "@wonrail/kit/contract/ids";
import { sql } from "@wonrail/kit/db";
import { type PromiseClient } from "@wonrail/kit/grpc/client";
import { viewer, wholeScans } from "@wonrail/kit/testing";
import { buildWorld } from "@wonrail/kit/testing/buildWorld";
import { WalletAdminServiceService } from "@wonrail/proto/wallet/v1/admin";
import { AuthorizationKind, WalletStatus, WalletType } from "@wonrail/proto/wallet/v1/wallet";
import { openWorld, type World } from "./commands/testing/world";
import { listSignings, search } from "./queries/operatorViews";
import { findInternals, readVelocity } from "./store/searches";

let world: World;
let admin: PromiseClient<typeof WalletAdminServiceService>;
const opening = buildWorld(async (open) => {
  world = await open.use(openWorld());
  admin = open.client(WalletAdminServiceService, world.address);
  return {};
});
beforeAll(() => opening);
afterAll(async () => (await opening).close());

async function createWallet(orgId: string, userId: string) {
  const wanted = { orgId, userId, walletType: WalletType.NORMAL, metadata: {} };
  return (await world.client.createWallet(wanted)).wallet!;
}

test("search finds wallets of any organisation by id, address and user", async () => {
  const [orgId, elsewhere] = [newId("org"), newId("org")];
  const userId = newId("req");
  const { walletId, walletAddress } = await createWallet(orgId, userId);
  const other = await createWallet(elsewhere, userId);
  const hit = {
    kind: "wallet",
    id: walletId,
    orgId,
    title: `NORMAL wallet of ${userId}, ACTIVE, ${walletAddress}`,
  };
  const hitsOf = async (text: string) => (await admin.search({ operator: viewer, text })).hits;
  for (const text of [walletId, walletAddress, walletAddress.toLowerCase(), ` ${walletId}\n`])
    expect(await hitsOf(text)).toEqual([hit]);
  const ids = (await hitsOf(userId)).map(({ id }) => id);
  expect(ids.sort()).toEqual([walletId, other.walletId].sort());
  for (const text of ["", newId("wal"), `0x${"1".repeat(40)}`]) expect(await hitsOf(text)).toEqual([]);
});

test("a wallet's details show its inner state and the amount signed in this hour", async () => {
  const orgId = newId("org");
  const { walletId } = await createWallet(orgId, "kim");
  await world.database.db.run(sql`
    update wallets set status = 'DEACTIVATING', closing_since = '2026-11-01Z', closing_request_id = 'req_1',
      times_reopened = 2, creation_key = 'first', creation_hash = decode(repeat('00', 32), 'hex')
    where wallet_id = ${walletId}`);
  await world.database.db.run(sql`
    insert into velocity (scope, hour, amount_won) values
      (${`wallet/${walletId}`}, date_trunc('hour', now()), 700),
      (${`wallet/${walletId}`}, date_trunc('hour', now()) - interval '1 hour', 5)`);
  expect(await admin.getWalletDetails({ operator: viewer, walletId })).toMatchObject({
    ...{ orgId, state: "DEACTIVATING", closingSince: new Date("2026-11-01Z"), timesReopened: 2 },
    ...{ creationKey: "first", signedWon: "700", signingLimitWon: "10000000" },
    wallet: { walletId, status: WalletStatus.ACTIVE, balanceWon: expect.any(String) },
  });
  const unknown = admin.getWalletDetails({ operator: viewer, walletId: newId("wal") });
  await expect(unknown).rejects.toMatchObject({ code: "WAL_002" });
});

test("the wallets of an organisation are listed page by page with their balances", async () => {
  const orgId = newId("org");
  for (const userId of ["kim", "lee", "park"]) await createWallet(orgId, userId);
  const list = (cursor?: string) =>
    admin.listOrganisationWallets({
      ...{ operator: viewer, orgId, walletType: WalletType.UNSPECIFIED, status: WalletStatus.UNSPECIFIED },
      page: { limit: 2, position: cursor === undefined ? undefined : { $case: "cursor", value: cursor } },
    });
  const first = await list();
  expect(first.wallets.map(({ userId }) => userId)).toEqual(["park", "lee"]);
  const second = await list(first.page!.nextCursor);
  expect(second.wallets).toMatchObject([{ userId: "kim", balanceWon: expect.any(String) }]);
});

test("signatures and refusals of an operation are listed", async () => {
  const [orgId, ledgerRef, fromWalletId] = [newId("org"), newId("trf"), newId("wal")];
  const { db } = world.database;
  await db.run(sql`
    insert into authorizations (org_id, ledger_ref, from_wallet_id, kind, to_address, nonce, amount_won, valid_before)
    values (${orgId}, ${ledgerRef}, ${fromWalletId}, 'TRANSFER', '0xa', decode(repeat('00', 32), 'hex'), 900, now())`);
  await db.run(sql`
    insert into signing_refusals (org_id, ledger_ref, from_wallet_id, reason, refused_at) values
      (${orgId}, ${ledgerRef}, ${fromWalletId}, 'over_wallet_limit', '2026-11-01Z'),
      (${orgId}, ${ledgerRef}, ${fromWalletId}, 'leg_over_limit', '2026-11-02Z')`);
  expect(await admin.listSignings({ operator: viewer, orgId, ledgerRef })).toMatchObject({
    signings: [{ fromWalletId, kind: AuthorizationKind.TRANSFER, toAddress: "0xa", amountWon: "900" }],
    refusals: [{ reason: "leg_over_limit" }, { reason: "over_wallet_limit" }],
  });
  const elsewhere = { operator: viewer, orgId: newId("org"), ledgerRef };
  expect(await admin.listSignings(elsewhere)).toEqual({ signings: [], refusals: [] });
});

test("no view reads a growing table whole", async () => {
  const walletId = newId("wal");
  const scans = await wholeScans(world.database.db, async (db) => {
    await findInternals(db, walletId);
    await readVelocity(db, `wallet/${walletId}`);
    await listSignings({ db }, { orgId: newId("org"), ledgerRef: newId("trf") });
    for (const text of [walletId, "kim"]) await search({ db }, text);
  });
  expect(scans).toEqual([]);
});
