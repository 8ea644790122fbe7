import { ServiceClient } from "@wonrail/sdk";
import { createEstate, learn } from "./estate";
import { planOperations, type PlannedOperation } from "./plan";
import { buildRequest } from "./requests";

const SHAPE = { seed: 5, clients: 4, organisations: 3 };
const OUTSIDE = `0x${"1".repeat(40)}`;
const SURROUNDINGS = { outside: [OUTSIDE], unfit: "0xbad", newWebhookUrl: () => "http://127.0.0.1:1/hook" };

function take(client: number, count: number, shape = SHAPE): PlannedOperation[] {
  const plan = planOperations(shape, client);
  return Array.from({ length: count }, () => plan.next().value);
}

test("equal seeds give equal operations, and other seeds and clients give others", () => {
  expect(take(1, 200)).toEqual(take(1, 200));
  const drawn = (operations: PlannedOperation[]) => operations.map(({ name, choice }) => [name, choice]);
  expect(drawn(take(2, 200))).not.toEqual(drawn(take(1, 200)));
  expect(drawn(take(1, 200, { ...SHAPE, seed: 6 }))).not.toEqual(drawn(take(1, 200)));
});

test("no two operations of a run share a number or a key, and each organisation has some", () => {
  const all = [0, 1, 2, 3].flatMap((client) => take(client, 500));
  expect(new Set(all.map(({ operation }) => operation)).size).toBe(all.length);
  expect(new Set(all.map(({ key }) => key)).size).toBe(all.length);
  expect(new Set(all.map(({ organisation }) => organisation))).toEqual(new Set([0, 1, 2]));
});

test("a long plan has every kind of operation", () => {
  const names = new Set(take(0, 5_000).map(({ name }) => name));
  expect([...names].sort()).toEqual([
    ...["charge", "charge.cancel", "key.create", "key.revoke", "payment", "payment.cancel", "payment.get"],
    ...["payment.refund", "record.create", "record.status", "refund", "transfer", "transfer.get"],
    ...["wallet.balance", "wallet.create", "wallet.deactivate", "wallet.get"],
    ...["webhook.create", "webhook.update"],
  ]);
});

test("an operation without an object becomes a charge, and has its object after it was learned", () => {
  const estate = createEstate();
  const wallet = { walletId: "wal_1", walletAddress: "0x1", userId: "user-1", walletType: "NORMAL" };
  learn(estate, "wallet.create", wallet);
  const [planned] = take(0, 1);
  const cancellation = { ...planned!, name: "charge.cancel" as const };
  expect(buildRequest(cancellation, estate, SURROUNDINGS).name).toBe("charge");
  learn(estate, "charge", { chargeId: "chg_1" });
  expect(buildRequest(cancellation, estate, SURROUNDINGS).name).toBe("charge.cancel");
});

test("a spare wallet is deactivated once, and no other operation uses it", () => {
  const estate = createEstate();
  learn(estate, "wallet.create", {
    walletId: "wal_1",
    walletAddress: "0x1",
    userId: "user-1",
    walletType: "NORMAL",
  });
  learn(estate, "wallet.create", {
    walletId: "wal_2",
    walletAddress: "0x2",
    userId: "spare-2",
    walletType: "NORMAL",
  });
  expect(estate.wallets.map(({ walletId }) => walletId)).toEqual(["wal_1"]);
  const planned = { ...take(0, 1)[0]!, name: "wallet.deactivate" as const };
  expect(buildRequest(planned, estate, SURROUNDINGS).name).toBe("wallet.deactivate");
  expect(buildRequest(planned, estate, SURROUNDINGS).name).toBe("charge");
});

test("some transfers to outside take all that a wallet had when it was read", async () => {
  const estate = createEstate();
  for (const number of [1, 2]) {
    const names = { walletId: `wal_${number}`, walletAddress: `0x${number}` };
    learn(estate, "wallet.create", { ...names, userId: `user-${number}`, walletType: "NORMAL" });
  }
  const planned = { ...take(0, 1)[0]!, name: "transfer" as const, variant: 0.93, amount: 1_000 };
  const bodies: unknown[] = [];
  const sdk = new ServiceClient({
    ...{ baseUrl: "http://127.0.0.1:1", apiKey: "none" },
    async fetch(_, { body } = {}) {
      bodies.push(JSON.parse(body as string));
      return Response.json({ success: true, data: {}, requestId: "req_1" });
    },
  });
  const send = () => buildRequest(planned, estate, SURROUNDINGS).send(sdk, { idempotencyKey: "1" });
  await send();
  expect(bodies.pop()).toMatchObject({ amount: 1_000, toWalletAddress: OUTSIDE });
  learn(estate, "wallet.get", { walletId: "wal_2", walletType: "NORMAL", availableBalance: 77_000 });
  learn(estate, "wallet.get", { walletId: "wal_3", walletType: "INCENTIVE", availableBalance: 5 });
  await send();
  expect(bodies.pop()).toEqual({ fromWalletId: "wal_2", amount: 77_000, toWalletAddress: OUTSIDE });
});
