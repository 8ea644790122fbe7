import { setTimeout as sleep } from "node:timers/promises";
import { createApiKey } from "@wonrail/kit/contract/apiKey";
import { rawSql } from "@wonrail/kit/db";
import { eventually } from "@wonrail/kit/testing";
import { readConfig } from "@wonrail/local/config";
import { planBus } from "@wonrail/local/startBus";
import { UNFINISHED_WORK, untilNone } from "./money/unfinishedWork";
import { answerCodesDuringHang } from "./money/answerCodesDuringHang";
import { openWallet, OUTSIDE } from "./money/scenes";
import { type Answer, type Api, type Json } from "./support/api";
import { asAdmin } from "./support/asAdmin";
import { newOrganisation } from "./support/operators";
import { missingPayments } from "./support/missingPayments";
import { reconciled } from "./support/reconciled";
import { startStack, type TestStack } from "./support/startStack";
import { collectFailureLogs } from "./support/collectFailureLogs";

// Requests that work while a part is away, requests that fail at once, and complete books
// afterwards.

jest.setTimeout(600_000);

/** Longer than the breakers, the leases and the back-off of a client last. */
const BUS_AWAY_MS = process.env.WONRAIL_DEEP === undefined ? 12_000 : 60_000;
const CLIENTS = 4;
const BETWEEN_PAYMENTS_MS = 750;
/** Time in which callers find a restarted service. */
const FOUND_MS = 30_000;
const BURST_PAYMENTS = 10;
/** Upper bound of the requests that are sent without auth. */
const MOVES = 8;
const MAX_TRIES = 5;
const SOME_LESS_MS = 4_000;
const AT_ONCE_MS = 1_000;

/** Kafka if this machine can run it. */
const bus = planBus({ ...readConfig(), bus: undefined }).kind === "feed" ? "feed" : "kafka";

let stack: TestStack;
let api: Api;

beforeAll(async () => {
  stack = await startStack({ bus });
  ({ api } = await newOrganisation(stack.stack(), "--incentive-bps", "100"));
});
afterAll(() => stack?.stop());

(bus === "kafka" ? test : test.skip)(
  "payments are answered, published and settled when Kafka is away, also after a restart",
  async () => {
    const [payer, shop] = [await openWallet(api, 10_000_000), await openWallet(api, 0)];
    const order = { payerWalletId: payer.walletId, receiverWalletId: shop.walletId, amount: 100 };
    const paid = new Set<string>();
    const others: unknown[] = [];
    const pay = async () => {
      const { status, body } = await api.call("POST", "/api/wallets/payment", order);
      if (status === 201) paid.add(body.data.paymentId as string);
      return status === 201 ? undefined : body.error;
    };
    const refused = () => (others.length === 0 ? [] : [...others.slice(0, 3), ...collectFailureLogs(stack)]);
    const startClients = () => {
      let running = true;
      const clients = Array.from({ length: CLIENTS }, async () => {
        for (; running; await sleep(BETWEEN_PAYMENTS_MS)) {
          const error = await pay();
          if (error) others.push(error);
        }
      });
      return async () => {
        running = false;
        await Promise.all(clients);
      };
    };
    let stopClients = startClients();
    await sleep(1_000);
    await stack.act("stop", "kafka");
    const before = paid.size;
    await sleep(BUS_AWAY_MS);
    expect(paid.size - before).toBeGreaterThan(30);
    await stopClients();
    expect(refused()).toEqual([]);

    // These services have one replica, so a restart interrupts them.
    for (const name of ["ledger", "payment"]) await stack.act("restart", name);
    await eventually(async () => expect(await pay()).toBeUndefined(), { timeoutMs: FOUND_MS });
    const restarted = paid.size;
    stopClients = startClients();
    await eventually(() => expect(paid.size - restarted).toBeGreaterThan(BURST_PAYMENTS));
    await stack.act("start", "kafka");
    await sleep(1_000);
    await stopClients();
    expect(refused()).toEqual([]);
    await stack.untilReady();

    expect(await missingPayments(stack, paid)).toEqual([]);
    await untilNone(stack.stack(), Object.keys(UNFINISHED_WORK) as (keyof typeof UNFINISHED_WORK)[], 120_000);
    expect(await unsettled(paid)).toEqual([]);
    expect((await reconciled(stack.stack())).drifts).toBe(0);
  },
);

describe("while auth, wallet and chain-relayer are away", () => {
  const AWAY = ["chain-relayer", "wallet", "auth"];
  let one: Json;
  let two: Json;
  /** As far as the gateway's lease of the plan goes. */
  let leaseEndsMs: number;

  beforeAll(async () => {
    [one, two] = [await openWallet(api, 100_000), await openWallet(api, 100_000)];
    await transfer(two.walletAddress);
    await pay();
    for (const name of AWAY.slice(0, -1)) await stack.act("stop", name);
    await leaveAuth();
  });
  afterAll(async () => {
    for (const name of AWAY.toReversed()) await stack.act("start", name);
  });

  const post = (path: string, body: Json): Promise<Answer<Json>> => api.call("POST", path, body);
  const transfer = (toWalletAddress: string) =>
    post("/api/wallets/transfer", { fromWalletId: one.walletId, toWalletAddress, amount: 100 });
  const pay = () => {
    const ids = { payerWalletId: one.walletId, receiverWalletId: two.walletId };
    return post("/api/wallets/payment", { ...ids, amount: 100 });
  };

  /**
   * The rest of the gateway's lease serves the time without auth, so a rush must first have
   * enlarged the lease.
   */
  async function leaveAuth(): Promise<void> {
    let lease = await newestLease();
    for (let rush = 0, enough = false; !enough && rush < 60; rush += 1) {
      await Promise.all([...Array(BURST_PAYMENTS)].map(() => pay()));
      const newest = await newestLease();
      enough = newest.lease_id !== lease.lease_id && newest.granted_units >= BURST_PAYMENTS + MOVES;
      lease = newest;
    }
    leaseEndsMs = lease.expires_at.getTime();
    await stack.act("stop", "auth");
  }

  /** The statuses of all that is tried. */
  async function moveMoney(): Promise<number[]> {
    const payment = await pay();
    const charge = await post("/api/wallets/charge", { walletId: one.walletId, amount: 1_000 });
    const { paymentId } = payment.body.data ?? {};
    const answers = [
      payment,
      charge,
      await transfer(two.walletAddress),
      await post("/api/wallets/charge/cancel", { chargeId: charge.body.data?.chargeId }),
      await post("/api/wallets/payment/cancel", { paymentId }),
      await post("/api/wallets/charge/refund", { walletId: two.walletId }),
      await api.call("GET", `/api/wallets/${one.walletId}/transactions`),
      await api.call("GET", `/api/wallets/payment/${paymentId}`),
    ];
    return answers.map(({ status }) => status);
  }

  test("money moves and is listed when no new fact is needed", async () => {
    let statuses = await moveMoney();
    // A lease lasts ten seconds by the gateway's clock. A slower machine proves nothing.
    const tooLate = () => statuses.includes(503) && Date.now() > leaseEndsMs - SOME_LESS_MS;
    for (let tries = 1; tooLate() && tries < MAX_TRIES; tries += 1) {
      await stack.act("start", "auth");
      await leaveAuth();
      statuses = await moveMoney();
    }
    expect(statuses).toEqual([201, 201, 201, 200, 200, 201, 200, 200]);
  });

  test.each<[string, () => Promise<Answer<Json>>]>([
    ["a new wallet", () => post("/api/wallets", { userId: "late", walletType: "NORMAL" })],
    ["reading a wallet", () => api.call("GET", `/api/wallets/${one.walletId}`)],
    ["a transfer to an address that nobody has looked at", () => transfer(OUTSIDE)],
    ["the session", () => api.call("GET", "/api/wallet-auth/session")],
    [
      "a key that nobody knows yet",
      () => api.call("GET", "/api/wallets/payment", undefined, { key: createApiKey("test").text }),
    ],
    ["recorded transactions", () => api.call("GET", "/api/transaction")],
  ])("%s answers SYS_002 with Retry-After at once and from then on", async (_, ask) => {
    const tookMs: number[] = [];
    for (let time = 0; time < 12; time += 1) {
      const startedMs = performance.now();
      const { body, headers } = await ask();
      expect([body.error?.code, Number(headers.get("retry-after")) > 0]).toEqual(["SYS_002", true]);
      tookMs.push(performance.now() - startedMs);
    }
    // A machine that pauses for seconds delays single answers, not most of them.
    expect(tookMs.sort((a, b) => a - b)[8]).toBeLessThan(AT_ONCE_MS);
  });
});

test("a cached key works while auth hangs, and an unknown one is answered in time", async () => {
  const stranger = { key: createApiKey("test").text };
  const list = () => api.call("GET", "/api/wallets/payment");
  const late = async () => {
    await sleep(3_000); // A key is cached for a second.
    return list();
  };
  const codes = await answerCodesDuringHang(
    stack,
    ["auth"],
    [list, late, () => api.call("GET", "/api/wallets/payment", undefined, stranger)],
  );
  expect(codes).toEqual([undefined, undefined, "SYS_002"]);
});

/** Payments that the chain has not confirmed after two minutes. */
async function unsettled(paymentIds: ReadonlySet<string>): Promise<string[]> {
  const left = [...paymentIds];
  for (const endMs = Date.now() + 120_000; left.length > 0;) {
    const { settlement } = await api.get(`/api/wallets/payment/${left[0]}`);
    if (settlement.status === "CONFIRMED") left.shift();
    else if (Date.now() < endMs) await sleep(200);
    else break;
  }
  return left;
}

function newestLease(): Promise<{ lease_id: string; granted_units: number; expires_at: Date }> {
  const newest = rawSql(
    "select lease_id, granted_units, expires_at from quota_leases order by granted_at desc limit 1",
  );
  return asAdmin(stack.stack(), "auth", (db) => db.one(newest));
}
