import { eventually } from "@wonrail/kit/testing";
import { ServiceClient } from "@wonrail/sdk";
import { pythonSdk } from "./clients/generatedClients";
import { type Api, openApi } from "./support/api";
import { newOrganisation, type NewOrganisation } from "./support/operators";
import { reportSkipped } from "./support/reportSkipped";
import { useSharedStack } from "./support/sharedStack";

// A partner rehearses in the sandbox of a running stack, as the guide says.

jest.setTimeout(300_000);

const OUTSIDE = "0x70997970C51812dc3A010C7d01b50e0d17dc79C8";
const DAY_MS = 86_400_000;

const python = pythonSdk("rehearse_sdk.py");
if ("why" in python) reportSkipped(`the guides are not played in Python, ${python.why}`);
const withPython = "why" in python ? test.skip : test;

const stack = useSharedStack();
let organisation: NewOrganisation;
let api: Api;

beforeAll(async () => {
  organisation = await newOrganisation(stack.stack());
  ({ api } = organisation);
});

test("a transfer with the memo of a failure is FAILED, its money is back, and an event tells of it", async () => {
  const walletId = await chargedWallet("failing", 10_000);
  const transfer = { fromWalletId: walletId, toWalletAddress: OUTSIDE, amount: 4_000 };
  const { transferId } = await api.post("/api/wallets/transfer", {
    ...transfer,
    memo: "sandbox:settlement_failed",
  });
  await untilData(`/api/wallets/transfer/${transferId}`, {
    ...{ status: "FAILED", failureReason: "failed_in_sandbox" },
  });
  await untilData(`/api/wallets/${walletId}`, { balance: 10_000, availableBalance: 10_000 });
  await eventually(async () => {
    const { items } = await api.get(`/api/events?objectId=${transferId}`);
    expect(items.map(({ type }: { type: string }) => type)).toContain("transfer.failed");
  });
});

test("a deposit of the faucet is credited, and its event has the transaction", async () => {
  const walletId = await chargedWallet("deposited", 1_000);
  const client = new ServiceClient({ baseUrl: stack.stack().gatewayUrl, apiKey: organisation.apiKey });
  const deposit = await client.sandbox.createDeposit({ walletId, amount: 7_000 });
  expect(deposit).toMatchObject({ walletId, amount: 7_000, txHash: expect.stringMatching(/^0x/) as string });
  await untilData(`/api/wallets/${walletId}`, { balance: 8_000 });
});

test("a month of the test clock ends a cancellation and the day's limit, and all later times are real", async () => {
  const walletId = await chargedWallet("clocked", 10_000);
  const { chargeId } = await api.post("/api/wallets/charge", { walletId, amount: 5_000 });
  const before = await api.post("/api/sandbox/clocks", undefined);
  expect(before.aheadSeconds).toBe(0);
  const to = new Date(Date.parse(before.time) + 31 * DAY_MS).toISOString();
  const first = await api.post("/api/sandbox/clocks/advance", { to });
  expect(await api.post("/api/sandbox/clocks/advance", { to })).toMatchObject({
    aheadSeconds: first.aheadSeconds,
  });
  const refused = await api.call("POST", "/api/wallets/charge/cancel", { chargeId });
  expect([refused.status, refused.body.error?.code]).toEqual([400, "CHG_004"]);
  const later = await api.post("/api/wallets/charge", { walletId, amount: 5_000 });
  expect(Math.abs(Date.parse(later.createdAt as string) - Date.now())).toBeLessThan(60_000);
  expect(await api.post("/api/wallets/charge/cancel", { chargeId: later.chargeId })).toMatchObject({
    status: "CANCELLED",
  });
});

test("a scheduled transfer runs when the test clock shows its time", async () => {
  const fromWalletId = await chargedWallet("scheduled", 10_000);
  const { walletAddress: fromAddress } = await api.get(`/api/wallets/${fromWalletId}`);
  const { time } = await api.post("/api/sandbox/clocks", undefined);
  const dueMs = Date.parse(time as string) + 10 * DAY_MS;
  const { id } = await api.post("/api/transaction", {
    ...{ paymentType: "SCHEDULED", fromNetworkType: "WON_TESTNET", toNetworkType: "WON_TESTNET" },
    ...{ fromAddress, toAddress: OUTSIDE, amount: "3000000000", scheduledAt: new Date(dueMs).toISOString() },
  });
  await api.post("/api/sandbox/clocks/advance", { to: new Date(dueMs).toISOString() });
  await untilData(`/api/transaction/${id}`, { status: "CONFIRMED" });
});

test("an expired key is refused at once and can be refreshed", async () => {
  const { keyId, apiKey } = await api.post("/api/wallet-auth/keys", {
    name: "short",
    scopes: ["wallets:read"],
  });
  const short = openApi(stack.stack().gatewayUrl, apiKey as string);
  expect((await short.call("GET", "/api/wallets")).status).toBe(200);
  expect(await api.post(`/api/sandbox/keys/${keyId}/expire`, undefined)).toMatchObject({ status: "EXPIRED" });
  const refused = await short.call("GET", "/api/wallets");
  expect([refused.status, refused.body.error?.code]).toEqual([401, "WAUTH_002"]);
});

test("the memo of a payout's row refuses this row, and the others are paid", async () => {
  const fromWalletId = await chargedWallet("paying", 10_000);
  const { walletAddress: toWalletAddress } = await api.get(`/api/wallets/${await chargedWallet("paid", 0)}`);
  const rows = ["salary", "sandbox:TRF_003"].map((memo) => ({ toWalletAddress, amount: 1_000, memo }));
  const { payoutId } = await api.post("/api/payouts", { fromWalletId, mode: "BEST_EFFORT", rows });
  await untilData(`/api/payouts/${payoutId}`, { status: "COMPLETED", acceptedCount: 1, refusedCount: 1 });
  const { items } = await api.get(`/api/payouts/${payoutId}/rows?status=REFUSED`);
  expect(items).toMatchObject([{ index: 1, error: { code: "TRF_003" }, transferId: null }]);
  await untilData(`/api/wallets/${fromWalletId}`, { balance: 9_000 });
});

withPython(
  "a partner's month in Python: a failure, a payout of a thousand rows, camt.053, a late cancellation",
  async () => {
    const { apiKey } = await newOrganisation(stack.stack());
    const env = { WONRAIL_BASE_URL: stack.stack().gatewayUrl, WONRAIL_API_KEY: apiKey };
    expect(JSON.parse("play" in python ? python.play(env) : "")).toEqual({
      ...{ transfer: ["FAILED", "failed_in_sandbox"], payout: ["COMPLETED", 1_000, 1_000_000] },
      ...{ salaries: 1_000, refusal: "CHG_004" },
    });
  },
);

async function chargedWallet(userId: string, amount: number): Promise<string> {
  const { walletId } = await api.post("/api/wallets", { userId, walletType: "NORMAL" });
  if (amount > 0) await api.post("/api/wallets/charge", { walletId, amount });
  return walletId as string;
}

async function untilData(path: string, wanted: object): Promise<void> {
  await eventually(async () => expect(await api.get(path)).toMatchObject(wanted), { timeoutMs: 90_000 });
}
