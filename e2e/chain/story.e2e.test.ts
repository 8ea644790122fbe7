import { rmSync } from "node:fs";
import { booksChapter, depositChapter } from "../demo/chain";
import { OUTSIDE } from "../demo/money";
import { until } from "../demo/demo";
import { type Json, openApi } from "../support/api";
import { newOrganisation } from "../support/operators";
import { startStack, temporaryHome, type TestStack } from "../support/startStack";

// Every kind of movement, as a partner asks for it, with `make down` and `make up` while it is on its way to the chain.

jest.setTimeout(600_000);

const dir = temporaryHome();
let stack: TestStack;

beforeAll(async () => {
  stack = await startStack({ home: dir, bus: "feed" });
  // The demo's chapters print their steps.
  jest.spyOn(process.stdout, "write").mockReturnValue(true);
});
afterAll(async () => {
  jest.restoreAllMocks();
  await stack?.stop();
  rmSync(dir, { recursive: true, force: true });
});

test("mints, payments, burns and outside transfers are confirmed with hash and block, and the books agree", async () => {
  const organisation = await newOrganisation(stack.stack(), "--incentive-bps", "100");
  let { api } = organisation;
  const wallet = (userId: string, walletType: string) => api.post("/api/wallets", { userId, walletType });
  const [alice, aliceIncentive, shop] = [
    await wallet("alice", "NORMAL"),
    await wallet("alice", "INCENTIVE"),
    await wallet("shop", "NORMAL"),
  ];
  const charge = await api.post("/api/wallets/charge", { walletId: alice.walletId, amount: 50_000 });
  await api.post("/api/wallets/charge", { walletId: aliceIncentive.walletId, amount: 1_000 });
  const order = { payerWalletId: alice.walletId, receiverWalletId: shop.walletId, amount: 20_000 };
  const payment = await api.post("/api/wallets/payment", order);
  expect(payment).toMatchObject({ breakdown: { incentive: 1_000, normal: 19_000 }, incentiveAccrued: 190 });
  const outside = { fromWalletId: alice.walletId, toWalletAddress: OUTSIDE, amount: 500 };
  const { transferId } = await api.post("/api/wallets/transfer", outside);

  expect(await stack.stop()).toBe(0);
  stack = await startStack({ home: dir, bus: "feed" });
  api = openApi(stack.stack().gatewayUrl, organisation.apiKey);
  const part = await api.post("/api/wallets/charge/cancel", { chargeId: charge.chargeId, amount: 1_000 });
  expect(part.cancellation.settlement.status).toBe("PENDING");
  await until(
    () => api.get(`/api/wallets/transfer/${transferId}`),
    ({ status }) => status === "COMPLETED",
  );
  const world = { stack: stack.stack(), api, tag: "" };
  const cast = { alice, aliceIncentive, shop };
  await depositChapter(world, cast);

  const lines = (await Promise.all(Object.values(cast).map(settledLines))).flat();
  expect(lines.map(({ type }) => type as string).sort()).toEqual(
    [
      "CHARGE",
      "CHARGE",
      "CHARGE_CANCEL",
      "INCENTIVE",
      "INCENTIVE_USE",
      "PAYMENT",
      "PAYMENT",
      "TRANSFER",
      "TRANSFER",
    ].sort(),
  );
  for (const { settlement } of lines) {
    const receipt = await receiptOf(settlement.txHash as string);
    expect(receipt).toMatchObject({ status: "0x1" });
    expect(Number(receipt!.blockNumber)).toBe(settlement.blockNumber);
  }
  const { cancellations } = await api.get(`/api/wallets/charge/${charge.chargeId}`);
  const { settlement } = lines.find(({ type }) => type === "CHARGE_CANCEL")!;
  expect(cancellations).toMatchObject([{ cancelId: part.cancelId, settlement }]);
  await booksChapter(world, cast);

  /** All lines of a wallet's statement, after the settlement of each. */
  async function settledLines({ walletId }: Json): Promise<Json[]> {
    const { items } = await until(
      () => api.get(`/api/wallets/${walletId}/transactions`),
      (page) => (page.items as Json[]).every(({ settlement }) => settlement.status === "CONFIRMED"),
    );
    return items as Json[];
  }
});

async function receiptOf(hash: string): Promise<{ status: string; blockNumber: string } | null> {
  const body = { jsonrpc: "2.0", id: 1, method: "eth_getTransactionReceipt", params: [hash] };
  const headers = { "content-type": "application/json" };
  const response = await fetch(stack.stack().chain.rpcUrl, {
    method: "POST",
    headers,
    body: JSON.stringify(body),
  });
  return ((await response.json()) as { result: { status: string; blockNumber: string } | null }).result;
}
