import { DomainError } from "@wonrail/kit/contract/errors";
import { newId } from "@wonrail/kit/contract/ids";
import { WalletStatus, WalletType } from "@wonrail/proto/wallet/v1/wallet";
import { openWorld, type World } from "../commands/testing/world";

let world: World;
let orgId: string;
let wallets: { walletId: string; walletAddress: string }[];

// Wallets of one organisation: kim has two and the second gets deactivated, lee's is deactivated,
// park's is OPENING. Another organisation has a kim too.
beforeAll(async () => {
  world = await openWorld();
  orgId = newId("org");
  wallets = [
    await create(orgId, "kim"),
    await create(orgId, "kim", WalletType.INCENTIVE),
    await create(orgId, "lee"),
    await create(newId("org"), "kim"),
  ];
  await world.client.deactivateWallet({ orgId, walletId: wallets[2]!.walletId });
  world.ledger.loseAnswer = () => new DomainError("SYS_003");
  await world.client.deactivateWallet({ orgId, walletId: wallets[1]!.walletId }).catch(() => undefined);
  world.ledger.refuse = () => new DomainError("SYS_002");
  await create(orgId, "park").catch(() => undefined);
});
afterAll(() => world.close());

const [KIM, INCENTIVE, LEE, STRANGER] = [0, 1, 2, 3];

test.each<[string, Partial<Parameters<World["client"]["listWallets"]>[0]>, number[]]>([
  ["nothing that is asked for", {}, [LEE, INCENTIVE, KIM]],
  ["a user", { userId: "kim" }, [INCENTIVE, KIM]],
  ["a user of nobody's", { userId: "choi" }, []],
  ["a type", { walletType: WalletType.NORMAL }, [LEE, KIM]],
  ["ACTIVE", { status: WalletStatus.ACTIVE }, [INCENTIVE, KIM]],
  ["DEACTIVATED", { status: WalletStatus.DEACTIVATED }, [LEE]],
])("the list by %s holds one organisation's wallets, newest first", async (_, filter, expected) => {
  const { found, page } = await list(filter);
  expect(found).toEqual(expected);
  expect(page).toMatchObject({ hasNext: false, totalCount: expected.length });
});

test("pages by number and by cursor hold each wallet once", async () => {
  const first = await list({ page: { limit: 2 } });
  expect([first.found, first.page.totalCount]).toEqual([[LEE, INCENTIVE], 3]);
  const position = { $case: "cursor" as const, value: first.page.nextCursor! };
  expect((await list({ page: { limit: 2, position } })).found).toEqual([KIM]);
  const second = { $case: "currentPage" as const, value: 2 };
  expect((await list({ page: { limit: 2, position: second } })).found).toEqual([KIM]);
});

test("each wallet has its own balance, less the held amount", async () => {
  for (const index of [KIM, LEE]) {
    const { walletId } = wallets[index]!;
    world.ledger.balances.set(walletId, { balanceWon: `${index + 1}000`, availableWon: `${index + 1}00` });
  }
  const { wallets: listed } = await world.client.listWallets(wanted());
  expect(listed.map(({ balanceWon, availableBalanceWon }) => [balanceWon, availableBalanceWon])).toEqual([
    ["3000", "300"],
    ["0", "0"],
    ["1000", "100"],
  ]);
  const { wallet } = await world.client.getWallet({ orgId, walletId: wallets[KIM]!.walletId });
  expect(wallet).toMatchObject({ balanceWon: "1000", availableBalanceWon: "100" });
});

test("an address in any letter case finds its wallet, with and without an organisation", async () => {
  const addresses = wallets.map(({ walletAddress }, index) =>
    index === KIM ? `0x${walletAddress.slice(2).toUpperCase()}` : walletAddress,
  );
  const found = async (of: string) => {
    const answer = await world.client.findWalletsByAddress({ orgId: of, addresses });
    return indexesOf(answer.wallets).sort();
  };
  expect(await found(orgId)).toEqual([KIM, INCENTIVE, LEE]);
  expect(await found("")).toEqual([KIM, INCENTIVE, LEE, STRANGER]);
});

test("facts name the deactivated wallets of their own organisation only", async () => {
  const walletIds = wallets.map(({ walletId }) => walletId);
  const facts = await world.client.getWalletFacts({ orgId, walletIds });
  expect(indexesOf(facts.wallets).sort()).toEqual([KIM, INCENTIVE, LEE]);
  expect(facts.deactivatedWalletIds).toEqual([walletIds[LEE]]);
});

async function list(filter: Partial<Parameters<World["client"]["listWallets"]>[0]>) {
  const { wallets: listed, page } = await world.client.listWallets({ ...wanted(), ...filter });
  return { found: indexesOf(listed), page: page! };
}

function wanted() {
  return { orgId, walletType: WalletType.UNSPECIFIED, status: WalletStatus.UNSPECIFIED };
}

function indexesOf(found: { walletId: string }[]): number[] {
  return found.map(({ walletId }) => wallets.findIndex((wallet) => wallet.walletId === walletId));
}

async function create(of: string, userId: string, walletType = WalletType.NORMAL) {
  return (await world.client.createWallet({ orgId: of, userId, walletType, metadata: {} })).wallet!;
}
