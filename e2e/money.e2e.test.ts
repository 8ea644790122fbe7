import { randomInt } from "node:crypto";
import fc from "fast-check";
import { type Database, openDatabase, sql } from "@wonrail/kit/db";
import { testLog } from "@wonrail/kit/testing";
import { hostileCases, type Things } from "./money/hostile";
import { DAILY_LIMIT, INCENTIVE_BPS } from "./money/model";
import { moves, play } from "./money/sequences";
import { type Api, RawJson } from "./support/api";
import { newOrganisation } from "./support/operators";
import { startStack, type TestStack } from "./support/startStack";

// What a partner can send that is wrong, all of it, and what he can send that is right, in any order.

jest.setTimeout(300_000);

let stack: TestStack;
let ledger: Database;

beforeAll(async () => {
  stack = await startStack({ bus: "postgres" });
  const url = stack.stack().postgres.urls.ledger!;
  ledger = openDatabase({ url, schema: "ledger", applicationName: "e2e", max: 1, log: testLog() });
});
afterAll(async () => {
  await ledger?.close();
  await stack?.stop();
});

test("nothing that a field of a money command may not be is taken: a code, the field named, and the whole ledger as before", async () => {
  const { api } = await newOrganisation(stack.stack());
  const stranger = await newOrganisation(stack.stack());
  const cases = hostileCases(await makeThings(api, stranger.api));
  expect(cases.length).toBeGreaterThan(300);
  const before = await wholeLedger();
  const wrong: unknown[] = [];
  for (const { name, path, field, json, codes } of cases) {
    const { status, body } = await api.call("POST", path, new RawJson(json));
    const { code, details } = body.error ?? {};
    const fields = (details?.fields ?? []) as { path: string }[];
    // A text that is no JSON has no fields yet.
    const named = code !== "REQ_001" || !isJson(json) || fields.some((one) => one.path.startsWith(field));
    if (![400, 404].includes(status) || !codes.includes(code ?? "") || !named)
      wrong.push({ name, status, code, details, wanted: codes });
  }
  expect(wrong).toEqual([]);
  expect(await wholeLedger()).toEqual(before);
});

test("any sequence of commands, replays and changed replays ends as the rules say", async () => {
  const options = ["--daily-limit", String(DAILY_LIMIT), "--incentive-bps", String(INCENTIVE_BPS)];
  const { api } = await newOrganisation(stack.stack(), ...options);
  const seed = Number(process.env.WONRAIL_SEED ?? randomInt(2 ** 31));
  process.stderr.write(`  sequences: WONRAIL_SEED=${seed}\n`);
  // Sixteen at a time, as each waits for the network more than for anything else: 19 × 16 = 304 sequences.
  const many = fc.array(moves, { minLength: 16, maxLength: 16 });
  const property = fc.asyncProperty(many, async (sequences) => {
    await Promise.all(sequences.map((sequence) => play(api, sequence)));
  });
  const limits = { interruptAfterTimeLimit: 240_000, markInterruptAsFailure: true };
  await fc.assert(property, { numRuns: 19, seed, ...limits });
});

/** Every balance, hold and line number, and how many lines there are. */
async function wholeLedger(): Promise<unknown> {
  const accounts = await ledger.query(
    sql`select id, balance_won, held_won, sequence, limit_used_won, closed_at from accounts order by id`,
  );
  return { accounts, postings: await ledger.one(sql`select count(*) from postings`) };
}

async function makeThings(api: Api, stranger: Api): Promise<Things> {
  const own = await makeMoney(api);
  const foreign = await makeMoney(stranger);
  const closed = await api.post("/api/wallets", { userId: "closed", walletType: "NORMAL" });
  await api.post(`/api/wallets/${closed.walletId}/deactivate`, undefined);
  const { tokenAddress, paymentManagerAddress } = stack.stack().chain;
  return {
    ...own,
    deactivatedId: closed.walletId,
    deactivatedAddress: closed.walletAddress,
    foreign,
    tokenAddress,
    paymentManagerAddress,
  };
}

/** A user with money, another one, and a payment between them. */
async function makeMoney(api: Api) {
  const [one, two] = [
    await api.post("/api/wallets", { userId: "one", walletType: "NORMAL" }),
    await api.post("/api/wallets", { userId: "two", walletType: "NORMAL" }),
  ];
  const { chargeId } = await api.post("/api/wallets/charge", { walletId: one.walletId, amount: 100_000 });
  const ids = { payerWalletId: one.walletId, receiverWalletId: two.walletId };
  const { paymentId } = await api.post("/api/wallets/payment", { ...ids, amount: 1_000 });
  return {
    walletId: one.walletId as string,
    walletAddress: one.walletAddress as string,
    otherWalletId: two.walletId as string,
    otherAddress: two.walletAddress as string,
    chargeId: chargeId as string,
    paymentId: paymentId as string,
  };
}

function isJson(text: string): boolean {
  try {
    return typeof JSON.parse(text) === "object";
  } catch {
    return false;
  }
}
