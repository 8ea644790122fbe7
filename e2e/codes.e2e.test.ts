import { setTimeout as sleep } from "node:timers/promises";
import { sql } from "@wonrail/kit/db";
import { type ErrorCode, errorTable } from "@wonrail/kit/contract/errors";
import { eventually } from "@wonrail/kit/testing";
import { type Api, type Answer, type Json, openApi } from "./support/api";
import { asAdmin } from "./support/asAdmin";
import { charged, wallet } from "./support/chargedWallet";
import { EVENT_CODES } from "./support/eventCodes";
import { KEY_CODES } from "./support/keyCodes";
import { leaksOf, secretsOf } from "./support/leaks";
import { admin, issuedKeys, newOrganisation, type NewOrganisation } from "./support/operators";
import { PAYMENT_CODES } from "./support/paymentCodes";
import { SANDBOX_CODES } from "./support/sandboxCodes";
import { startStack, type TestStack } from "./support/startStack";
import { withinOneDay } from "./support/withinOneDay";

// A real stack answers every public error code through REST. The table does not compile when a code
// is missing.

jest.setTimeout(480_000);

interface World {
  stack: TestStack;
  api: Api;
  org: NewOrganisation;
  /** With a key that is over before the last of the tests. */
  expiring: { api: Api; expiresMs: number };
}

type Scenario = (world: World) => Promise<Answer<Json>>;

/** Why no request can be answered so on purpose. */
interface UnreachableCode {
  never: string;
}

const OUTSIDE = "0x70997970C51812dc3A010C7d01b50e0d17dc79C8";
const UNKNOWN_ID = "0".repeat(32);

async function deactivated(api: Api): Promise<Json> {
  const made = await wallet(api);
  await api.post(`/api/wallets/${made.walletId}/deactivate`, undefined);
  return made;
}

async function transfer(
  api: Api,
  fromWalletId: string,
  toWalletAddress: string,
  amount: number,
): Promise<Answer<Json>> {
  return api.call("POST", "/api/wallets/transfer", { fromWalletId, toWalletAddress, amount });
}

async function asOwner(stack: TestStack, schema: string, statement: ReturnType<typeof sql>): Promise<void> {
  await asAdmin(stack.stack(), schema, (db) => db.run(statement));
}

function record(hash: string): Json {
  const network = "BASE_SEPOLIA";
  return {
    paymentType: "INSTANT",
    fromNetworkType: network,
    toNetworkType: network,
    fromAddress: OUTSIDE,
    toAddress: OUTSIDE,
    amount: "1000000",
    txHash: hash,
  };
}

function newHash(): string {
  return `0x${[...Array(64)].map(() => Math.floor(Math.random() * 16).toString(16)).join("")}`;
}

const SCENARIOS: Record<ErrorCode, Scenario | UnreachableCode> = {
  WAUTH_001: ({ api }) => api.call("GET", "/api/wallet-auth/session", undefined, { key: "wk_test_nonsense" }),
  WAUTH_003: async ({ stack }) => {
    const times = [
      "--subscription-starts",
      "2025-01-01T00:00:00Z",
      "--subscription-ends",
      "2025-12-31T00:00:00Z",
    ];
    const { api } = await newOrganisation(stack.stack(), ...times);
    expect((await api.call("GET", "/api/wallet-auth/session")).status).toBe(200);
    return api.call("GET", "/api/wallets");
  },
  WAUTH_004: async ({ stack }) => {
    const { api } = await newOrganisation(stack.stack(), "--plan", "FREE");
    // A request that times out keeps its unit of the plan, so only ten run at once.
    for (let made = 0; made < 100; made += 10) await Promise.all([...Array(10)].map(() => wallet(api)));
    const refused = await api.call("POST", "/api/wallets", { userId: "one-too-many", walletType: "NORMAL" });
    expect(refused.body.error?.details).toMatchObject({ limit: 100 });
    return refused;
  },
  RATE_001: async ({ stack }) => {
    const { api } = await newOrganisation(stack.stack(), "--rate", "1", "--burst", "2");
    const answers = await Promise.all([...Array(30)].map(() => api.call("GET", "/api/wallets")));
    const refused = answers.find(({ status }) => status === 429)!;
    expect(Number(refused.headers.get("retry-after"))).toBeGreaterThan(0);
    return refused;
  },

  WAL_001: async ({ api }) => {
    const { userId, walletId } = await wallet(api);
    const second = await api.call("POST", "/api/wallets", { userId, walletType: "NORMAL" });
    expect(second.body.error?.details).toEqual({ walletId });
    return second;
  },
  WAL_002: ({ api }) => api.call("GET", `/api/wallets/wal_${UNKNOWN_ID}`),
  WAL_003: async ({ api }) =>
    api.call("POST", `/api/wallets/${(await charged(api, 1_000)).walletId}/deactivate`),
  WAL_004: async ({ api }) =>
    api.call("POST", "/api/wallets/charge", { walletId: (await deactivated(api)).walletId, amount: 1_000 }),

  WAL_005: async ({ api, stack }) => {
    const { walletId } = await charged(api, 1_000);
    const to = await wallet(api);
    // Freezes a wallet as the relayer does when the chain blocks its address.
    const uuid = (walletId as string).slice(4);
    await asOwner(
      stack,
      "ledger",
      sql`update ledger.accounts set frozen_by_operator = 1 where id = ${uuid}::uuid`,
    );
    const refused = await transfer(api, walletId, to.walletAddress, 100);
    expect(refused.body.error?.details).toEqual({ walletId, freeze: "OUTGOING" });
    await api.post("/api/wallets/charge", { walletId, amount: 1_000 });
    return refused;
  },

  TRF_001: async ({ api }) => {
    const refused = await transfer(
      api,
      (await charged(api, 1_000)).walletId,
      (await wallet(api)).walletAddress,
      1_001,
    );
    expect(refused.body.error?.details).toEqual({ available: 1_000, required: 1_001 });
    return refused;
  },
  TRF_002: async ({ api }) => transfer(api, (await charged(api, 1_000)).walletId, `0x${"0".repeat(40)}`, 100),
  TRF_003: async ({ stack }) => {
    const { api } = await newOrganisation(stack.stack(), "--daily-limit", "5000");
    await withinOneDay();
    const from = await charged(api, 10_000);
    const to = await wallet(api);
    expect((await transfer(api, from.walletId, to.walletAddress, 5_000)).status).toBe(201);
    const refused = await transfer(api, from.walletId, to.walletAddress, 1);
    expect(refused.body.error?.details).toEqual({ dailyLimit: 5_000, usedToday: 5_000 });
    return refused;
  },
  TRF_004: async ({ api }) => {
    const incentive = await wallet(api, "INCENTIVE");
    await api.post("/api/wallets/charge", { walletId: incentive.walletId, amount: 1_000 });
    return transfer(api, incentive.walletId, (await wallet(api)).walletAddress, 100);
  },
  TRF_005: ({ api }) => api.call("GET", `/api/wallets/transfer/trf_${UNKNOWN_ID}`),

  CHG_001: async ({ api }) =>
    api.call("POST", "/api/wallets/charge", { walletId: (await wallet(api)).walletId, amount: 999 }),
  CHG_002: ({ api }) => api.call("POST", "/api/wallets/charge/cancel", { chargeId: `chg_${UNKNOWN_ID}` }),
  CHG_003: async ({ api }) => {
    const { chargeId } = await charged(api, 1_000);
    expect(await api.post("/api/wallets/charge/cancel", { chargeId })).toMatchObject({
      status: "CANCELLED",
      cancelledAmount: 1_000,
    });
    return api.call("POST", "/api/wallets/charge/cancel", { chargeId });
  },
  CHG_004: async ({ api, stack }) => {
    const { chargeId } = await charged(api, 1_000);
    const uuid = (chargeId as string).slice(4);
    await asOwner(
      stack,
      "ledger",
      sql`update entries set posted_at = posted_at - interval '30 days 1 minute' where id = ${uuid}::uuid`,
    );
    return api.call("POST", "/api/wallets/charge/cancel", { chargeId });
  },
  CHG_005: async ({ api }) => {
    const { chargeId } = await charged(api, 2_000);
    await api.post("/api/wallets/charge/cancel", { chargeId, amount: 1_500 });
    const refused = await api.call("POST", "/api/wallets/charge/cancel", { chargeId, amount: 501 });
    expect(refused.body.error?.details).toEqual({ remaining: 500 });
    return refused;
  },
  CHG_006: async ({ api }) => {
    const { chargeId, walletId } = await charged(api, 2_000);
    await transfer(api, walletId, (await wallet(api)).walletAddress, 1_000);
    return api.call("POST", "/api/wallets/charge/cancel", { chargeId });
  },
  CHG_007: async ({ api }) => {
    const { walletId } = await wallet(api);
    const refused = await api.call("POST", "/api/wallets/charge/refund", { walletId });
    expect(refused.body.error?.details).toEqual({ reason: "nothing_to_refund" });
    return refused;
  },
  CHG_008: async ({ stack }) => {
    const { api } = await newOrganisation(stack.stack(), "--daily-charge-limit", "5000");
    await withinOneDay();
    const { walletId, chargeId } = await charged(api, 5_000);
    const refused = await api.call("POST", "/api/wallets/charge", { walletId, amount: 1_000 });
    expect(refused.body.error?.details).toEqual({
      ...{ reason: "daily_limit", dailyLimit: 5_000, usedToday: 5_000 },
    });
    await api.post("/api/wallets/charge/cancel", { chargeId, amount: 1_000 });
    await api.post("/api/wallets/charge", { walletId, amount: 1_000 });
    return refused;
  },

  PAY_001: PAYMENT_CODES.PAY_001,
  PAY_002: PAYMENT_CODES.PAY_002,
  PAY_003: PAYMENT_CODES.PAY_003,
  PAY_004: PAYMENT_CODES.PAY_004,
  PAY_005: PAYMENT_CODES.PAY_005,
  PAY_006: PAYMENT_CODES.PAY_006,
  PAY_007: PAYMENT_CODES.PAY_007,
  PAY_008: PAYMENT_CODES.PAY_008,
  PAY_009: PAYMENT_CODES.PAY_009,

  PYO_001: PAYMENT_CODES.PYO_001,
  SBX_001: SANDBOX_CODES.SBX_001,
  SBX_002: SANDBOX_CODES.SBX_002,
  SBX_003: SANDBOX_CODES.SBX_003,
  TX_001: ({ api }) => api.call("GET", `/api/transaction/txn_${UNKNOWN_ID}`),
  TX_002: async ({ api }) => {
    const hash = newHash();
    const { id } = await api.post("/api/transaction", record(hash));
    const second = await api.call("POST", "/api/transaction", record(`0x${hash.slice(2).toUpperCase()}`));
    expect(second.body.error?.details).toEqual({ id });
    return second;
  },
  TX_003: async ({ api }) => {
    const { id } = await api.post("/api/transaction", record(newHash()));
    await api.patch(`/api/transaction/${id}/status`, { status: "CONFIRMED" });
    const refused = await api.call("PATCH", `/api/transaction/${id}/status`, { status: "FAILED" });
    expect(refused.body.error?.details).toEqual({ status: "CONFIRMED" });
    return refused;
  },
  TX_004: async ({ api }) => {
    const { id } = await api.post("/api/transaction", record(newHash()));
    const scheduledAt = new Date(Date.now() + 60_000).toISOString();
    const refused = await api.call("PATCH", `/api/transaction/${id}/schedule`, { scheduledAt });
    expect(refused.body.error?.details).toEqual({ status: "PENDING", reason: "not_scheduled" });
    return refused;
  },

  REQ_008: KEY_CODES.REQ_008,
  WAUTH_005: KEY_CODES.WAUTH_005,
  WAUTH_006: KEY_CODES.WAUTH_006,
  WAUTH_007: KEY_CODES.WAUTH_007,
  WAUTH_008: KEY_CODES.WAUTH_008,
  EVT_001: EVENT_CODES.EVT_001,
  EVT_002: EVENT_CODES.EVT_002,
  WHK_001: EVENT_CODES.WHK_001,
  WHK_002: EVENT_CODES.WHK_002,
  WHK_003: EVENT_CODES.WHK_003,

  REQ_001: ({ api }) => api.call("POST", "/api/wallets", { userId: "x", walletType: "GOLD", balance: 5 }),
  REQ_002: { never: "a request that runs is joined: the second one waits for the same answer" },
  REQ_003: async ({ api }) => {
    const { walletId } = await wallet(api);
    const options = { idempotencyKey: `key ${walletId}` };
    await api.post("/api/wallets/charge", { walletId, amount: 1_000 }, options);
    return api.call("POST", "/api/wallets/charge", { walletId, amount: 1_001 }, options);
  },
  REQ_004: ({ api }) => api.call("GET", "/api/no-such-thing"),
  REQ_005: ({ api }) => api.call("DELETE", "/api/wallets"),
  REQ_006: ({ api }) =>
    api.call("POST", "/api/wallets", { userId: "x".repeat(70_000), walletType: "NORMAL" }),
  REQ_007: ({ api }) => api.call("POST", "/api/wallets", {}, { headers: { "Content-Type": "text/plain" } }),

  SIG_001: { never: "custody says it to chain-relayer only" },
  SYS_001: { never: "it means that something is broken" },
  SYS_002: async ({ api, stack }) => {
    const { walletId } = await wallet(api);
    await stack.act("stop", "payment");
    // Until the gateway notices, it may use the ending connection and get an unknown outcome.
    const read = async () => (await api.call("GET", "/api/wallets/charge")).body.error?.code;
    await eventually(async () => expect(await read()).toBe("SYS_002"), { timeoutMs: 30_000 });
    const refused = await api.call("POST", "/api/wallets/charge", { walletId, amount: 1_000 });
    expect(Number(refused.headers.get("retry-after"))).toBeGreaterThan(0);
    await stack.act("start", "payment");
    await stack.untilReady();
    return refused;
  },
  SYS_003: async ({ api, stack }) => {
    // Money moves before the ledger falls silent: no breaker is open.
    await charged(api, 1_000);
    const { walletId } = await wallet(api);
    const options = { idempotencyKey: `unknown ${walletId}` };
    const pid = await stack.kill("ledger", "SIGSTOP");
    const unknown = await api.call("POST", "/api/wallets/charge", { walletId, amount: 1_000 }, options);
    process.kill(pid, "SIGCONT");
    await stack.untilReady();
    // The same key returns the outcome, and the effect is single.
    expect((await api.post("/api/wallets/charge", { walletId, amount: 1_000 }, options)).balance).toBe(1_000);
    return unknown;
  },
  SYS_004: { never: "every route of this release is built" },

  // Runs last, when its key has expired or nearly so.
  WAUTH_002: async ({ expiring: { api, expiresMs } }) => {
    await sleep(expiresMs + 1_500 - Date.now());
    return api.call("GET", "/api/wallets");
  },
};

/** Issues a key that lives long enough to be seen working on a slow machine. */
async function expiringKey({ stack, org }: Omit<World, "expiring">): Promise<World["expiring"]> {
  const expiresMs = Date.now() + 20_000;
  const expires = ["--expires", new Date(expiresMs).toISOString()];
  const { apiKey } = await admin(stack.stack(), "key", "issue", "--org", org.orgCode, ...expires);
  const api = openApi(stack.stack().gatewayUrl, apiKey!);
  expect((await api.call("GET", "/api/wallets")).status).toBe(200);
  return { api, expiresMs };
}

let world: World;

beforeAll(async () => {
  const stack = await startStack({ bus: "feed" });
  const org = await newOrganisation(stack.stack());
  const made = { stack, org, api: org.api };
  world = { ...made, expiring: await expiringKey(made) };
});
afterAll(() => world?.stack.stop());

const isScenario = (entry: [string, unknown]): entry is [ErrorCode, Scenario] =>
  typeof entry[1] === "function";
const given = Object.entries(SCENARIOS).filter(isScenario);

test.each(given)("%s", async (code, give) => {
  const { status, body } = await give(world);
  expect(body).toMatchObject({
    success: false,
    data: null,
    error: { code, message: errorTable[code].message },
  });
  expect(status).toBe(errorTable[code].http);
  expect(body.requestId).toMatch(/^req_/);
});

test("logs, events and rows hold no partner key and no password afterwards", async () => {
  const secrets = { ...secretsOf(world.stack), ...issuedKeys };
  expect(Object.values(secrets).every((secret) => secret.length >= 20)).toBe(true);
  expect(await leaksOf(world.stack, secrets)).toEqual([]);
  // Proves that the search covers the right places: harmless text is found there.
  const known = await leaksOf(world.stack, { organisation: world.org.orgCode });
  expect(known).toContain("organisation in auth.organisations");
});
