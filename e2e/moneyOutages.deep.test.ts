import { eventually } from "@wonrail/kit/testing";
import { answerCodesDuringHang } from "./money/answerCodesDuringHang";
import { openWallet } from "./money/scenes";
import { type Api } from "./support/api";
import { newOrganisation } from "./support/operators";
import { startStack, type TestStack } from "./support/startStack";

// Requests end at their deadline when processes accept everything and answer nothing.
// `codes.e2e` hangs the ledger during a charge.

jest.setTimeout(600_000);

let stack: TestStack;
let api: Api;

beforeAll(async () => {
  stack = await startStack({ bus: "feed" });
  ({ api } = await newOrganisation(stack.stack()));
});
afterAll(() => stack?.stop());

test("every request is answered within its deadline while wallet and ledger hang", async () => {
  const { walletId } = await openWallet(api, 1_000);
  const codes = await answerCodesDuringHang(
    stack,
    ["wallet", "ledger"],
    [
      () => api.call("GET", `/api/wallets/${walletId}`),
      () => api.call("GET", `/api/wallets/${walletId}/transactions`),
      () => api.call("POST", "/api/wallets/charge", { walletId, amount: 1_000 }),
    ],
  );
  for (const code of codes) expect(["SYS_002", "SYS_003"]).toContain(code);
});

test("requests to a hanging payment service end at their deadline and take effect once", async () => {
  const { walletId } = await openWallet(api, 1_000);
  const charge = { walletId, amount: 2_000 };
  const key = { idempotencyKey: `hanging ${walletId}` };
  const ask = () => api.call("POST", "/api/wallets/charge", charge, key);
  for (const code of await answerCodesDuringHang(stack, ["payment"], [ask, ask, ask]))
    expect(["SYS_002", "SYS_003"]).toContain(code);
  await stack.untilReady();
  const first = await eventually(() => api.post("/api/wallets/charge", charge, key), { timeoutMs: 30_000 });
  expect(first.balance).toBe(3_000);
  expect((await api.get(`/api/wallets/${walletId}`)).balance).toBe(3_000);
});
