import { randomUUID } from "node:crypto";
import fc from "fast-check";
import { type Answer, type Api, type Json } from "../support/api";
import { Model, type Step, type Verdict, type WalletName, WALLETS } from "./model";
import { heard } from "./settle";

/**
 * A step, and whether the client repeats it: unchanged, or with another amount under the same key.
 */
export interface Move {
  step: Step;
  again: "no" | "same" | "changed";
}

const wallet = fc.constantFrom(...WALLETS);
const amount = fc.oneof(
  { weight: 4, arbitrary: fc.integer({ min: 1, max: 5_000 }) },
  { weight: 1, arbitrary: fc.constantFrom(1, 99, 100, 999, 1_000, 1_001) },
);
const steps: fc.Arbitrary<Step> = fc.oneof(
  { weight: 4, arbitrary: fc.record({ do: fc.constant("charge" as const), wallet, amount }) },
  {
    weight: 2,
    arbitrary: fc.record({ do: fc.constant("transfer" as const), from: wallet, to: wallet, amount }),
  },
  {
    weight: 4,
    arbitrary: fc.record({
      do: fc.constant("pay" as const),
      payer: wallet,
      receiver: wallet,
      amount,
      incentive: fc.constantFrom(undefined, null, 0, 50, 400),
    }),
  },
  {
    weight: 2,
    arbitrary: fc.record({ do: fc.constant("cancelPayment" as const), payment: fc.nat({ max: 2 }) }),
  },
  {
    weight: 3,
    arbitrary: fc.record({
      do: fc.constant("refundPayment" as const),
      payment: fc.nat({ max: 2 }),
      amount: fc.integer({ min: 1, max: 2_000 }),
    }),
  },
  {
    weight: 2,
    arbitrary: fc.record({
      do: fc.constant("cancelCharge" as const),
      charge: fc.nat({ max: 3 }),
      amount: fc.option(amount, { nil: undefined }),
    }),
  },
  { weight: 1, arbitrary: fc.record({ do: fc.constant("refund" as const), wallet }) },
);
export const moves: fc.Arbitrary<Move[]> = fc.array(
  fc.record({
    step: steps,
    again: fc.constantFrom("no" as const, "no" as const, "same" as const, "changed" as const),
  }),
  { minLength: 4, maxLength: 14 },
);

interface World {
  api: Api;
  wallets: Record<WalletName, { walletId: string; walletAddress: string; userId: string }>;
  /** In the order in which the model counts them. */
  chargeIds: string[];
  paymentIds: string[];
}

/** Plays one sequence on new wallets. System and model must agree at every step and at the end. */
export async function play(api: Api, sequence: Move[]): Promise<void> {
  const model = new Model();
  const world: World = { api, wallets: await openWallets(api), chargeIds: [], paymentIds: [] };
  for (const { step, again } of sequence) await playOne(world, model, step, again);
  await compareBalances(world, model);
}

async function playOne(world: World, model: Model, step: Step, again: Move["again"]): Promise<void> {
  const { path, body } = requestOf(world, step);
  const options = { idempotencyKey: randomUUID() };
  const verdict = model.apply(step);
  const answer = await heard(world.api, path, body, options);
  compare(step, verdict, answer);
  if (answer.status < 300) {
    if (step.do === "charge") world.chargeIds.push(answer.body.data.chargeId as string);
    if (step.do === "pay") world.paymentIds.push(answer.body.data.paymentId as string);
  }
  if (again === "same") {
    const replay = await heard(world.api, path, body, options);
    expect([step, replay.status, replay.body.data, replay.body.error]).toEqual([
      step,
      answer.status,
      answer.body.data,
      answer.body.error,
    ]);
  }
  // An early refusal leaves the key unused.
  if (again === "changed" && answer.status < 300) {
    const other = await heard(world.api, path, { ...body, memo: "another body" }, options);
    expect([step, other.status, other.body.error?.code]).toEqual([step, 422, "REQ_003"]);
  }
}

function compare(step: Step, verdict: Verdict, { status, body }: Answer<Json>): void {
  if ("code" in verdict) expect([step, body.error?.code]).toEqual([step, verdict.code]);
  else expect([step, status < 300, body.data]).toEqual([step, true, expect.objectContaining(verdict.says)]);
}

const NOBODY = "0".repeat(32);

function requestOf({ wallets, chargeIds, paymentIds }: World, step: Step): { path: string; body: Json } {
  switch (step.do) {
    case "charge":
      return {
        path: "/api/wallets/charge",
        body: { walletId: wallets[step.wallet].walletId, amount: step.amount },
      };
    case "cancelCharge": {
      const chargeId = chargeIds[step.charge] ?? `chg_${NOBODY}`;
      return { path: "/api/wallets/charge/cancel", body: { chargeId, amount: step.amount } };
    }
    case "refund":
      return { path: "/api/wallets/charge/refund", body: { walletId: wallets[step.wallet].walletId } };
    case "transfer": {
      const [fromWalletId, toWalletAddress] = [wallets[step.from].walletId, wallets[step.to].walletAddress];
      return { path: "/api/wallets/transfer", body: { fromWalletId, toWalletAddress, amount: step.amount } };
    }
    case "pay": {
      const ids = {
        payerWalletId: wallets[step.payer].walletId,
        receiverWalletId: wallets[step.receiver].walletId,
      };
      const { amount, incentive: incentiveAmount } = step;
      return { path: "/api/wallets/payment", body: { ...ids, amount, incentiveAmount } };
    }
    case "cancelPayment":
      return {
        path: "/api/wallets/payment/cancel",
        body: { paymentId: paymentIds[step.payment] ?? `pay_${NOBODY}` },
      };
    case "refundPayment":
      return {
        path: "/api/wallets/payment/refund",
        body: { paymentId: paymentIds[step.payment] ?? `pay_${NOBODY}`, amount: step.amount },
      };
  }
}

async function openWallets(api: Api): Promise<World["wallets"]> {
  const [payer, shop] = [randomUUID(), randomUUID()];
  const open = (userId: string, walletType: string) => api.post("/api/wallets", { userId, walletType });
  const made = await Promise.all([
    open(payer, "NORMAL"),
    open(payer, "INCENTIVE"),
    open(payer, "GOVERNMENT"),
    open(shop, "NORMAL"),
    open(shop, "INCENTIVE"),
  ]);
  return Object.fromEntries(WALLETS.map((name, index) => [name, made[index]])) as World["wallets"];
}

/** Every wallet equals the model's, and the payer's statement adds up to it. */
async function compareBalances({ api, wallets }: World, model: Model): Promise<void> {
  const { payer, shop } = wallets;
  const [one, two, statement] = await Promise.all([
    api.get<{ items: Json[] }>(`/api/wallets?userId=${payer.userId}`),
    api.get<{ items: Json[] }>(`/api/wallets?userId=${shop.userId}`),
    api.get<{ items: Json[] }>(`/api/wallets/${payer.walletId}/transactions?limit=100`),
  ]);
  const found = new Map([...one.items, ...two.items].map(({ walletId, balance }) => [walletId, balance]));
  expect(WALLETS.map((name) => [name, found.get(wallets[name].walletId)])).toEqual(
    WALLETS.map((name) => [name, model.balances[name]]),
  );
  const sum = statement.items.reduce(
    (total: number, { amount, direction }) => total + (direction === "IN" ? amount : -amount),
    0,
  );
  expect(sum).toBe(model.balances.payer);
}
