import { execFile } from "node:child_process";
import { randomUUID } from "node:crypto";
import { join } from "node:path";
import { setTimeout as sleep } from "node:timers/promises";
import { promisify } from "node:util";
import { type Api, type Answer, type Json } from "./support/api";
import { ContractViolation } from "./support/contract";
import { newOrganisation } from "./support/operators";
import { startStack, type TestStack } from "./support/startStack";

// One key, one effect, one answer: at once, one after the other, and while the processes that do it are killed.

jest.setTimeout(300_000);

const AT_ONCE = 50;

let stack: TestStack;
let api: Api;

beforeAll(async () => {
  stack = await startStack({ bus: "postgres" });
  api = (await newOrganisation(stack.stack(), "--incentive-bps", "500", "--daily-limit", "1000000000")).api;
});
afterAll(async () => {
  await stack?.stop();
});

interface Scene {
  path: string;
  body: Json;
  /** What has moved, in KRW, once the command has happened once; read off the first wallet. */
  walletId: string;
  balanceAfter: number;
}

async function wallet(amount: number, walletType = "NORMAL", userId = randomUUID()): Promise<Json> {
  const made = await api.post("/api/wallets", { userId, walletType });
  if (amount === 0) return made;
  const { chargeId } = await api.post("/api/wallets/charge", { walletId: made.walletId, amount });
  return { ...made, chargeId };
}

const scenes: Record<string, () => Promise<Scene>> = {
  async transfer() {
    const [from, to] = [await wallet(10_000), await wallet(0)];
    const body = { fromWalletId: from.walletId, toWalletAddress: to.walletAddress, amount: 1_000 };
    return { path: "/api/wallets/transfer", body, walletId: from.walletId, balanceAfter: 9_000 };
  },
  async "transfer to an outside address"() {
    const from = await wallet(10_000);
    const body = {
      fromWalletId: from.walletId,
      toWalletAddress: "0x70997970C51812dc3A010C7d01b50e0d17dc79C8",
      amount: 1_000,
    };
    return { path: "/api/wallets/transfer", body, walletId: from.walletId, balanceAfter: 9_000 };
  },
  async charge() {
    const { walletId } = await wallet(0);
    return { path: "/api/wallets/charge", body: { walletId, amount: 1_000 }, walletId, balanceAfter: 1_000 };
  },
  async "charge cancellation"() {
    const { walletId, chargeId } = await wallet(10_000);
    return {
      path: "/api/wallets/charge/cancel",
      body: { chargeId, amount: 1_000 },
      walletId,
      balanceAfter: 9_000,
    };
  },
  async refund() {
    const { walletId } = await wallet(10_000);
    return { path: "/api/wallets/charge/refund", body: { walletId }, walletId, balanceAfter: 0 };
  },
  async payment() {
    const [payer, receiver] = [await wallet(10_000), await wallet(0)];
    const body = { payerWalletId: payer.walletId, receiverWalletId: receiver.walletId, amount: 1_000 };
    return { path: "/api/wallets/payment", body, walletId: payer.walletId, balanceAfter: 9_000 };
  },
  async "payment cancellation"() {
    const [payer, receiver] = [await wallet(10_000), await wallet(0)];
    const ids = { payerWalletId: payer.walletId, receiverWalletId: receiver.walletId };
    const { paymentId } = await api.post("/api/wallets/payment", { ...ids, amount: 1_000 });
    return {
      path: "/api/wallets/payment/cancel",
      body: { paymentId },
      walletId: payer.walletId,
      balanceAfter: 10_000,
    };
  },
};

async function available(walletId: string): Promise<number> {
  return (await api.get(`/api/wallets/${walletId}`)).availableBalance;
}

/** Sends the same request until its outcome is known, as a client does after a lost answer. */
async function settle(path: string, body: Json, idempotencyKey: string): Promise<Answer<Json>> {
  for (let tries = 0; ; tries += 1) {
    const answer = await api.call("POST", path, body, { idempotencyKey }).catch(unlessViolated);
    if (answer && answer.status < 500 && answer.status !== 429) return answer;
    if (tries > 120) throw new Error(`${path} has no outcome: ${JSON.stringify(answer?.body)}`);
    await sleep(250);
  }
}

/** A connection that was lost has no answer; one that the document does not promise is a failure. */
function unlessViolated(error: unknown): null {
  if (error instanceof ContractViolation) throw error;
  return null;
}

async function verifyLedger(): Promise<string> {
  const script = join(__dirname, "../services/ledger/bin/verify.mjs");
  const env = { ...process.env, DATABASE_URL: stack.stack().postgres.urls.ledger };
  const { stdout } = await promisify(execFile)(process.execPath, [script], { env });
  return stdout;
}

test.each(Object.entries(scenes))(
  `fifty times the same %s at once: one effect, equal answers`,
  async (_, make) => {
    const { path, body, walletId, balanceAfter } = await make();
    const key = randomUUID();
    const answers = await Promise.all([...Array(AT_ONCE)].map(() => settle(path, body, key)));
    const bodies = new Set(answers.map((answer) => JSON.stringify(answer.body.data)));
    expect(
      answers.map(({ status }) => status).every((status) => status === answers[0]!.status && status < 300),
    ).toBe(true);
    expect(bodies.size).toBe(1);
    expect(
      answers.filter(({ headers }) => headers.get("idempotent-replayed") === null).length,
    ).toBeGreaterThanOrEqual(1);
    expect(await available(walletId)).toBe(balanceAfter);

    const later = await settle(path, body, key);
    expect(later.headers.get("idempotent-replayed")).toBe("true");
    expect(later.body.data).toEqual(answers[0]!.body.data);
  },
);

test("fifty cancellations of one charge, each with a key of its own, never take more than the charge", async () => {
  const { walletId, chargeId } = await wallet(10_000);
  const answers = await Promise.all(
    [...Array(AT_ONCE)].map(() =>
      settle("/api/wallets/charge/cancel", { chargeId, amount: 700 }, randomUUID()),
    ),
  );
  const done = answers.filter(({ status }) => status === 200).length;
  expect(done).toBe(14);
  expect(await available(walletId)).toBe(10_000 - 14 * 700);
  expect(new Set(answers.flatMap(({ body }) => body.error?.code ?? []))).toEqual(new Set(["CHG_005"]));
});

test("fifty transfers at the edge of the daily limit: exactly as many as fit", async () => {
  const limited = await newOrganisation(stack.stack(), "--daily-limit", "5000");
  const from = await limited.api.post("/api/wallets", { userId: "a", walletType: "NORMAL" });
  const to = await limited.api.post("/api/wallets", { userId: "b", walletType: "NORMAL" });
  await limited.api.post("/api/wallets/charge", { walletId: from.walletId, amount: 100_000 });
  const body = { fromWalletId: from.walletId, toWalletAddress: to.walletAddress, amount: 300 };
  const answers = await Promise.all(
    [...Array(AT_ONCE)].map(() => limited.api.call("POST", "/api/wallets/transfer", body)),
  );
  expect(answers.filter(({ status }) => status === 201)).toHaveLength(16);
  expect(answers.filter(({ body: { error } }) => error?.code === "TRF_003")).toHaveLength(AT_ONCE - 16);
});

test("a wallet deactivated while money arrives ends one way or the other, never both", async () => {
  for (let round = 0; round < 10; round += 1) {
    const { walletId } = await wallet(0);
    const [charge, deactivation] = await Promise.all([
      settle("/api/wallets/charge", { walletId, amount: 1_000 }, randomUUID()),
      api.call("POST", `/api/wallets/${walletId}/deactivate`),
    ]);
    const { status, balance } = await api.get(`/api/wallets/${walletId}`);
    if (charge.status === 201) {
      expect([deactivation.body.error?.code, status, balance]).toEqual(["WAL_003", "ACTIVE", 1_000]);
    } else {
      expect([charge.body.error?.code, deactivation.status, status, balance]).toEqual([
        "WAL_004",
        200,
        "DEACTIVATED",
        0,
      ]);
    }
  }
});

test("whatever is killed, each key has one effect, and everything comes to its end", async () => {
  const [from, to] = [await wallet(1_000_000), await wallet(0)];
  const body = {
    payerWalletId: from.walletId,
    receiverWalletId: to.walletId,
    amount: 100,
    incentiveAmount: 0,
  };
  let running = true;
  let done = 0;
  const clients = [...Array(8)].map(async () => {
    while (running) {
      const answer = await settle("/api/wallets/payment", body, randomUUID());
      expect(answer.status).toBe(201);
      done += 1;
    }
  });
  for (const name of ["payment", "ledger", "gateway", "payment", "ledger", "postgres"]) {
    await sleep(1_500);
    await stack.kill(name);
    await stack.untilReady();
  }
  await sleep(1_000);
  running = false;
  await Promise.all(clients);
  expect(done).toBeGreaterThan(20);
  // Requests that were cut off carried keys too, and were asked for again until they had an outcome.
  expect(await available(to.walletId)).toBe(done * 100);
  expect(await verifyLedger()).toContain("0 violations");
});
