import { sql } from "@wonrail/kit/db";
import { newId } from "@wonrail/kit/contract/ids";
import {
  AuthorizationIntent,
  AuthorizationKind,
  WalletStatus,
  WalletType,
} from "@wonrail/proto/wallet/v1/wallet";
import { CHAIN_ID, openWorld, TOKEN, type World } from "./commands/testing/world";

let world: World;
let wallet: { walletId: string; walletAddress: string };

beforeAll(async () => {
  world = await openWorld();
  wallet = (await world.client.createWallet({ orgId: newId("org"), ...wish, metadata: {} })).wallet!;
});
afterAll(() => world.close());

const wish = { userId: "kim", walletType: WalletType.NORMAL };
const STRANGERS = ["acme", "org_1", newId("wal"), "a\0b"];

const asks: Record<string, (orgId: string) => Promise<unknown>> = {
  createWallet: (orgId) => world.client.createWallet({ orgId, ...wish, metadata: {} }),
  ensureWallet: (orgId) => world.client.ensureWallet({ orgId, ...wish }),
  getWallet: (orgId) => world.client.getWallet({ orgId, walletId: wallet.walletId }),
  listWallets: (orgId) => world.client.listWallets({ orgId, ...wish, status: WalletStatus.ACTIVE }),
  updateWallet: (orgId) => world.client.updateWallet({ orgId, walletId: wallet.walletId, metadata: {} }),
  deactivateWallet: (orgId) => world.client.deactivateWallet({ orgId, walletId: wallet.walletId }),
  getWalletFacts: (orgId) => world.client.getWalletFacts({ orgId, walletIds: [wallet.walletId] }),
};

test.each(Object.entries(asks))(
  "%s for what is no organisation is refused, and changes nothing",
  async (_name, ask) => {
    const before = await everything();
    for (const orgId of ["", ...STRANGERS])
      await expect(ask(orgId)).rejects.toMatchObject({
        code: "REQ_001",
        details: { fields: [{ path: "orgId", message: "must be an organisation's id" }] },
      });
    expect(await everything()).toEqual(before);
  },
);

test("two encodings of one userId name the same user", async () => {
  const [orgId, walletType] = [newId("org"), WalletType.NORMAL];
  const [composed, decomposed] = ["각".normalize("NFC"), "각".normalize("NFD")];
  const { wallet } = await world.client.createWallet({ orgId, userId: decomposed, walletType, metadata: {} });
  expect(wallet).toMatchObject({ userId: composed });
  await expect(
    world.client.createWallet({ orgId, userId: composed, walletType, metadata: {} }),
  ).rejects.toMatchObject({ code: "WAL_001", details: { walletId: wallet!.walletId } });
  const page = { status: WalletStatus.ACTIVE, walletType, orgId };
  expect((await world.client.listWallets({ ...page, userId: decomposed })).wallets).toHaveLength(1);
});

test.each(STRANGERS)("the address %j is refused before a look-up", async (orgId) => {
  const addresses = [wallet.walletAddress];
  await expect(world.client.findWalletsByAddress({ orgId, addresses })).rejects.toMatchObject({
    code: "REQ_001",
    details: { fields: [{ path: "orgId" }] },
  });
});

test("calls accept at most a thousand wallets or addresses, and 500 legs", async () => {
  const [orgId, client] = [newId("org"), world.client];
  const many = <T>(count: number, one: T) => Array.from({ length: count }, () => one);
  expect(await client.getWalletFacts({ orgId, walletIds: many(1_000, "w") })).toMatchObject({ wallets: [] });
  expect(await client.findWalletsByAddress({ orgId, addresses: many(1_000, "a") })).toEqual({ wallets: [] });
  const tooMany: [string, Promise<unknown>][] = [
    ["walletIds", client.getWalletFacts({ orgId, walletIds: many(1_001, "w") })],
    ["addresses", client.findWalletsByAddress({ orgId, addresses: many(1_001, "a") })],
    ["intents", client.signAuthorizations({ intents: many(501, AuthorizationIntent.fromPartial({})) })],
  ];
  for (const [path, asked] of tooMany)
    await expect(asked).rejects.toMatchObject({ code: "REQ_001", details: { fields: [{ path }] } });
});

test.each(["", ...STRANGERS])("custody signs and stores nothing for %j", async (orgId) => {
  const before = await everything();
  const intent = {
    ...{ orgId, ledgerRef: newId("trf"), fromWalletId: wallet.walletId, toAddress: wallet.walletAddress },
    ...{ amountWon: "5", nonce: Buffer.alloc(32, 1), kind: AuthorizationKind.TRANSFER },
    ...{ chainId: BigInt(CHAIN_ID), tokenAddress: TOKEN },
    validBefore: BigInt(Math.floor(Date.now() / 1000) + 600),
  };
  await expect(world.client.signAuthorizations({ intents: [intent] })).rejects.toMatchObject({
    code: "REQ_001",
    details: { fields: [{ path: "intents.0.orgId" }] },
  });
  expect(await everything()).toEqual(before);
});

async function everything() {
  const counts = await world.database.db.one(sql`
    select (select count(*) from seeds) as seeds, (select count(*) from wallets) as wallets,
      (select count(*) from signing_refusals) as refusals, (select count(*) from outbox) as events`);
  return { counts, asked: [...world.ledger.asked] };
}
