import { invalidRequest } from "@wonrail/kit/contract/errors";
import { newId } from "@wonrail/kit/contract/ids";
import { WalletType } from "@wonrail/proto/wallet/v1/wallet";
import { openWorld, type World } from "./testing/world";

let world: World;

beforeAll(async () => {
  world = await openWorld();
});
afterAll(() => world.close());

test("a wallet whose id comes from a clock that was months off is opened", async () => {
  world.ledger.refuse = ({ requestId, intent }) =>
    intent?.$case === "openAccount" && requestId === intent.value.walletId
      ? invalidRequest([{ path: "requestId", message: "was made in a month that the journal does not have" }])
      : undefined;
  const { walletId } = await create();
  expect(world.ledger.opened).toContain(walletId);
  world.ledger.refuse = () => invalidRequest([{ path: "intent.userId", message: "is too long" }]);
  await expect(create()).rejects.toMatchObject({ code: "REQ_001" });
});

async function create() {
  const wanted = { orgId: newId("org"), userId: "kim", walletType: WalletType.NORMAL, metadata: {} };
  return (await world.client.createWallet(wanted)).wallet!;
}
