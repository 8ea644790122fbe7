import { randomUUID } from "node:crypto";
import { available, openWallet, SCENES } from "./money/scenes";
import { heard, settle } from "./money/settle";
import { type Answer, type Api, type Json } from "./support/api";
import { newOrganisation } from "./support/operators";
import { reconciled } from "./support/reconciled";
import { useSharedStack } from "./support/sharedStack";
import { withinOneDay } from "./support/withinOneDay";
import { verifyLedger } from "./support/verifyLedger";

// Each key has one effect and one answer, concurrently and repeatedly. `stack.e2e` kills processes
// during payments, and `exactlyOnce.deep` at each step of a command.

jest.setTimeout(600_000);

const AT_ONCE = 50;

const stack = useSharedStack();
let api: Api;

beforeAll(async () => {
  api = (await newOrganisation(stack.stack(), "--incentive-bps", "500", "--daily-limit", "1000000000")).api;
});

test.each(Object.entries(SCENES))(
  "fifty times the same %s at once: one effect, equal answers",
  async (_, make) => {
    const { path, body, walletId, afterOnce } = await make(api);
    const key = randomUUID();
    const answers = await Promise.all([...Array(AT_ONCE)].map(() => settle(api, path, body, key)));
    expect(new Set(answers.map(({ status, body: { data } }) => JSON.stringify([status, data]))).size).toBe(1);
    expect(answers[0]!.status).toBeLessThan(300);
    const firsts = answers.filter(({ headers }) => headers.get("idempotent-replayed") === null);
    expect(firsts).toHaveLength(1);
    expect(await available(api, walletId)).toBe(afterOnce);

    const later = await settle(api, path, body, key);
    expect(later.headers.get("idempotent-replayed")).toBe("true");
    expect(later.body.data).toEqual(answers[0]!.body.data);
  },
);

test.each(Object.entries(SCENES))(
  "fifty times the same %s at once without a key: each is one of its own, and done as often as it can be",
  async (_, make) => {
    const { path, body, walletId, most } = await make(api);
    const answers = await Promise.all([...Array(AT_ONCE)].map(() => heard(api, path, body)));
    const [done, refused] = [answers.filter(succeeded), answers.filter((answer) => !succeeded(answer))];
    expect(done).toHaveLength(Math.min(most.times, AT_ONCE));
    expect(new Set(done.map(idOf)).size).toBe(done.length);
    expect(new Set(refused.map(({ body: { error } }) => error?.code))).toEqual(
      new Set(most.refusal === undefined ? [] : [most.refusal]),
    );
    expect(await available(api, walletId)).toBe(most.after);
  },
);

function succeeded({ status }: Answer<Json>): boolean {
  return status < 300;
}

/** Id of the command's result; a cancellation has its own. */
function idOf({ body: { data } }: Answer<Json>): string {
  return data.cancelId ?? data.transferId ?? data.chargeId ?? data.refundId ?? data.paymentId;
}

test("fifty cancellations of one charge under separate keys never exceed the charge", async () => {
  const { walletId, chargeId } = await openWallet(api, 10_000);
  const answers = await Promise.all(
    [...Array(AT_ONCE)].map(() =>
      settle(api, "/api/wallets/charge/cancel", { chargeId, amount: 700 }, randomUUID()),
    ),
  );
  const done = answers.filter(({ status }) => status === 200).length;
  expect(done).toBe(14);
  expect(await available(api, walletId)).toBe(10_000 - 14 * 700);
  expect(new Set(answers.flatMap(({ body }) => body.error?.code ?? []))).toEqual(new Set(["CHG_005"]));
});

test("exactly as many of fifty transfers succeed as the daily limit allows", async () => {
  const limited = await newOrganisation(stack.stack(), "--daily-limit", "5000");
  const from = await limited.api.post("/api/wallets", { userId: "a", walletType: "NORMAL" });
  const to = await limited.api.post("/api/wallets", { userId: "b", walletType: "NORMAL" });
  await limited.api.post("/api/wallets/charge", { walletId: from.walletId, amount: 100_000 });
  const body = { fromWalletId: from.walletId, toWalletAddress: to.walletAddress, amount: 300 };
  await withinOneDay();
  const answers = await Promise.all(
    [...Array(AT_ONCE)].map(() => heard(limited.api, "/api/wallets/transfer", body)),
  );
  expect(answers.filter(({ status }) => status === 201)).toHaveLength(16);
  expect(answers.filter(({ body: { error } }) => error?.code === "TRF_003")).toHaveLength(AT_ONCE - 16);
});

/** Three ways in which money reaches a wallet. */
const ARRIVALS: Record<string, (to: Json) => Promise<{ path: string; body: Json }>> = {
  charge: async ({ walletId }) => ({ path: "/api/wallets/charge", body: { walletId, amount: 1_000 } }),
  async transfer({ walletAddress }) {
    const { walletId: fromWalletId } = await openWallet(api, 1_000);
    const body = { fromWalletId, toWalletAddress: walletAddress, amount: 1_000 };
    return { path: "/api/wallets/transfer", body };
  },
  async payment({ walletId: receiverWalletId }) {
    const { walletId: payerWalletId } = await openWallet(api, 1_000);
    return { path: "/api/wallets/payment", body: { payerWalletId, receiverWalletId, amount: 1_000 } };
  },
};

test.each(Object.entries(ARRIVALS))(
  "a wallet deactivated while a %s arrives ends one way or the other, never both",
  async (_, make) => {
    for (let round = 0; round < 8; round += 1) {
      const to = await openWallet(api, 0);
      const { path, body } = await make(to);
      const [arrival, deactivation] = await Promise.all([
        settle(api, path, body, randomUUID()),
        heard(api, `/api/wallets/${to.walletId}/deactivate`, undefined),
      ]);
      const { status, balance } = await api.get(`/api/wallets/${to.walletId}`);
      const ending = [arrival.body.error?.code, deactivation.body.error?.code, status, balance];
      const moved = [undefined, "WAL_003", "ACTIVE", 1_000];
      const closed = ["WAL_004", undefined, "DEACTIVATED", 0];
      expect(ending).toEqual(arrival.status === 201 ? moved : closed);
    }
  },
);

test("the ledger's invariants hold, and the books agree with the chain", async () => {
  expect(await verifyLedger(stack.stack())).toContain("0 violations");
  const { wallets, drifts } = await reconciled(stack.stack());
  expect(wallets).toBeGreaterThan(0);
  expect(drifts).toBe(0);
});
