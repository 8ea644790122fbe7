import { randomBytes, randomInt } from "node:crypto";
import { mkdirSync, writeFileSync } from "node:fs";
import { dirname, join } from "node:path";
import fc from "fast-check";
import { type Database, openDatabase, sql } from "@wonrail/kit/db";
import { eventually, testLog } from "@wonrail/kit/testing";
import { ServiceClient } from "@wonrail/sdk";
import { testCamtStatements } from "./money/camtStatements";
import { differencesFromReads, readFrames, tellStory, TYPES_OF_STORY } from "./money/eventStory";
import { compareForeignAnswers } from "./money/foreignIds";
import { hostileCases, type Fixtures } from "./money/hostile";
import { hostileRecords } from "./money/hostileRecords";
import { hostileRest } from "./money/hostileRest";
import { hostileX402 } from "./money/hostileX402";
import { lineOf, createEveryType, readPages } from "./money/listing";
import { DAILY_LIMIT, INCENTIVE_BPS } from "./money/model";
import { moves, play } from "./money/sequences";
import { replayExamples } from "./money/story";
import { authorise, execute } from "./money/tryItOut";
import { startReceiver } from "./money/receiver";
import { ROOT } from "./ops/repository";
import { type Api, type Json, RawJson } from "./support/api";
import { findBrowser, openPage } from "./support/browser";
import { newOrganisation, type NewOrganisation } from "./support/operators";
import { reportSkipped } from "./support/reportSkipped";
import { useSharedStack } from "./support/sharedStack";
import { withinOneDay } from "./support/withinOneDay";

// Every invalid request of a partner, and valid ones in any order.

jest.setTimeout(600_000);

/** Runs of 16 sequences each. */
const SEQUENCE_RUNS = process.env.WONRAIL_DEEP === undefined ? 4 : 40;
const SCREENSHOT = join(ROOT, ".cache/api-docs.png");

const stack = useSharedStack();
let ledger: Database;

beforeAll(async () => {
  const url = stack.stack().postgres.urls.ledger!;
  ledger = openDatabase({ url, schema: "ledger", applicationName: "e2e", max: 1, log: testLog() });
});
afterAll(() => ledger?.close());

test("invalid fields are refused with a code and the field name, and the ledger stays unchanged", async () => {
  const [own, stranger] = [await newOrganisation(stack.stack()), await newOrganisation(stack.stack())];
  const { api } = own;
  const fixtures = await createFixtures(api, stranger.api);
  const address = fixtures.otherAddress;
  const instant = await api.post("/api/transaction", record(address));
  const scheduled = await api.post("/api/transaction", scheduledRecord(address));
  const recorded = { instantId: instant.id as string, scheduledId: scheduled.id as string, address };
  const cases = [
    ...hostileCases(fixtures),
    ...hostileRest(fixtures),
    ...hostileRecords(recorded),
    ...hostileX402(),
  ];
  expect(cases.length).toBeGreaterThan(1_000);
  const before = [await ledgerOf(own, stranger), await api.get("/api/transaction")];
  const wrong: unknown[] = [];
  for (const { name, method, path, field, json, codes } of cases) {
    const { status, body } = await api.call(method, path, json === undefined ? undefined : new RawJson(json));
    const { code, details } = body.error ?? {};
    const fields = (details?.fields ?? []) as { path: string }[];
    // Text that is not JSON has no fields yet.
    const named =
      code !== "REQ_001" || !isJson(json ?? "{}") || fields.some((one) => one.path.startsWith(field));
    if (![400, 404].includes(status) || !codes.includes(code ?? "") || !named)
      wrong.push({ name, status, code, details, wanted: codes });
  }
  expect(wrong).toEqual([]);
  expect([await ledgerOf(own, stranger), await api.get("/api/transaction")]).toEqual(before);
});

test("an Idempotency-Key of a path with an id belongs to that id", async () => {
  const { api } = await newOrganisation(stack.stack());
  const post = (path: string, body?: object) => api.call("POST", path, body, { idempotencyKey: "one" });
  const hook = { url: "http://127.0.0.1:9/hook", status: "DISABLED" };
  const [first, again] = [await post("/api/webhooks", hook), await post("/api/webhooks", hook)];
  expect(again.body.data).toEqual(first.body.data);
  expect(again.headers.get("idempotent-replayed")).toBe("true");
  const other = await api.post("/api/webhooks", hook);
  const wallets = [];
  for (const userId of ["kim", "lee"])
    wallets.push(await api.post("/api/wallets", { userId, walletType: "NORMAL" }));
  const paths = [
    ...["test", "rotate-secret"].map((action) =>
      [first.body.data, other].map(({ webhookId }) => `/api/webhooks/${webhookId}/${action}`),
    ),
    wallets.map(({ walletId }) => `/api/wallets/${walletId}/deactivate`),
  ];
  for (const [mine, theirs] of paths) {
    const body = mine!.endsWith("rotate-secret") ? {} : undefined;
    const done = await post(mine!, body);
    expect([done.status, (await post(mine!, body)).body.data]).toEqual([done.status, done.body.data]);
    expect((await post(theirs!, body)).body.error?.code).toBe("REQ_003");
  }
});

test("another organisation's ids are answered exactly like unknown ids", async () => {
  const [own, stranger] = [await newOrganisation(stack.stack()), await newOrganisation(stack.stack())];
  const { api } = own;
  const fixtures = await createFixtures(api, stranger.api);
  const { walletId, otherWalletId, otherAddress, chargeId, paymentId } = await makeMoney(
    stranger.api,
    "again",
  );
  const again = { payerWalletId: walletId, receiverWalletId: otherWalletId, amount: 1_000 };
  const refunded = { paymentId: (await stranger.api.post("/api/wallets/payment", again)).paymentId };
  const { refundId: prf } = await stranger.api.post("/api/wallets/payment/refund", {
    ...refunded,
    amount: 100,
  });
  const part = { chargeId, amount: 1_000 };
  const { cancelId: ccl } = await stranger.api.post("/api/wallets/charge/cancel", part);
  const { cancelId: pcl } = await stranger.api.post("/api/wallets/payment/cancel", { paymentId });
  const body = { fromWalletId: walletId, toWalletAddress: otherAddress, amount: 1_000 };
  const { transferId } = await stranger.api.post("/api/wallets/transfer", body);
  const payout = {
    fromWalletId: walletId,
    dryRun: true,
    rows: [{ toWalletAddress: otherAddress, amount: 1 }],
  };
  const { payoutId: pyo } = await stranger.api.post("/api/payouts", payout);
  const { refundId } = await stranger.api.post("/api/wallets/charge/refund", { walletId });
  const { id } = await stranger.api.post("/api/transaction", record(otherAddress));
  const evt = await eventually(async () => (await stranger.api.get("/api/events?limit=1")).items[0].eventId);
  const made = {
    wal: walletId,
    trf: transferId,
    chg: chargeId,
    rfd: refundId,
    pay: paymentId,
    txn: id,
    ...{ ccl, pcl, prf, pyo },
  };
  const hook = { url: "http://127.0.0.1:9/hook", status: "DISABLED" };
  const { webhookId: whk } = await stranger.api.post("/api/webhooks", hook);
  const { keyId: key } = (await stranger.api.get("/api/wallet-auth/session")).key;
  const foreign = { ...made, evt, whk, key };
  const before = await ledgerOf(own, stranger);
  for (const { request, foreign: one, absent } of await compareForeignAnswers(api, fixtures, foreign))
    expect([request, one]).toEqual([request, absent]);
  expect(await ledgerOf(own, stranger)).toEqual(before);
});

test("the newest event of each object tells of it as a read answers", async () => {
  const { api } = await newOrganisation(stack.stack(), "--incentive-bps", "500");
  await tellStory(api);
  await eventually(async () => expect(await differencesFromReads(api)).toEqual([]), { timeoutMs: 90_000 });
  const { items } = await api.get("/api/events?limit=100");
  expect(items.map(({ sequence }: Json) => sequence)).toEqual(
    items.map((_: Json, index: number) => index + 1),
  );
  const types = new Set(items.map(({ type }: Json) => type as string));
  expect([...types].sort()).toEqual(TYPES_OF_STORY);
});

testCamtStatements(async () => {
  const { gatewayUrl } = stack.stack();
  const { api, apiKey } = await newOrganisation(stack.stack());
  const { walletId, otherWalletId } = await makeMoney(api, "camt");
  return { api, apiKey, gatewayUrl, walletIds: [walletId, otherWalletId] };
});

test("a webhook for a settled payment arrives, and the library verifies it", async () => {
  const { api, apiKey } = await newOrganisation(stack.stack());
  const client = new ServiceClient({ baseUrl: stack.stack().gatewayUrl, apiKey });
  const receiver = await startReceiver();
  try {
    const { webhookId, secret } = await client.webhooks.create({
      url: receiver.url,
      eventTypes: ["settlement.confirmed"],
    });
    const { paymentId } = await makeMoney(api, "hooked");
    const delivery = await receiver.until(({ body }) => body.includes(paymentId));
    const event = await client.webhooks.unwrap(delivery.body, delivery.headers, secret);
    expect(event).toEqual(await client.events.get(event.eventId));
    expect(event).toMatchObject({
      ...{ type: "settlement.confirmed", objectId: paymentId },
      data: { paymentId, settlement: { status: "CONFIRMED" } },
    });
    const forged = client.webhooks.unwrap(`${delivery.body} `, delivery.headers, secret);
    await expect(forged).rejects.toMatchObject({ code: "SDK_004" });
    await eventually(async () => {
      const { items } = await client.webhooks.listDeliveries(webhookId, { status: "DELIVERED" });
      expect(items.map(({ eventId }) => eventId)).toContain(event.eventId);
    });
  } finally {
    await receiver.close();
  }
});

test("the stream pushes the events of the list, and goes on after the last one that was seen", async () => {
  const { api, apiKey } = await newOrganisation(stack.stack());
  await makeMoney(api, "streamed");
  const { items } = await eventually(async () => {
    const page = await api.get("/api/events?limit=100");
    expect(page.items.length).toBeGreaterThanOrEqual(5);
    return page;
  });
  const url = `${stack.stack().gatewayUrl}/api/events/stream`;
  expect(await readFrames(url, apiKey, {}, 5)).toEqual(items.slice(0, 5));
  expect(await readFrames(url, apiKey, { "Last-Event-ID": "3" }, 2)).toEqual(items.slice(3, 5));
  const later = readFrames(url, apiKey, { "Last-Event-ID": "1000" }, 1).catch(() => "ended");
  const refused = await fetch(`${url}?types=gift.given`, { headers: { "X-API-Key": apiKey } });
  expect([refused.status, ((await refused.json()) as Json).error.code]).toEqual([400, "REQ_001"]);
  await api.call("DELETE", "/api/wallet-auth/api-key");
  expect(await later).toBe("ended");
});

describe("the unified listing", () => {
  let api: Api;
  let played: Awaited<ReturnType<typeof createEveryType>>;
  const list = (query: string, walletId = played.normalId) =>
    api.get<{ items: Json[] }>(`/api/wallets/${walletId}/transactions?limit=100${query}`);

  beforeAll(async () => {
    ({ api } = await newOrganisation(stack.stack(), "--incentive-bps", String(INCENTIVE_BPS)));
    played = await createEveryType(api);
  });

  test("has every type, newest first, with balance and counterparty on each line", async () => {
    expect((await list("")).items.map(lineOf)).toEqual(played.normal);
    expect((await list("", played.incentiveId)).items.map(lineOf)).toEqual(played.incentive);
  });

  test("shows the lines of one payment under one id in both wallets", async () => {
    const lines = [...(await list("")).items, ...(await list("", played.incentiveId)).items];
    const ofIt = lines.filter(({ relatedId }) => relatedId === played.paymentId).map(({ type }) => type);
    const paid = ["INCENTIVE", "INCENTIVE_USE", "PAYMENT"];
    const cancelled = ["INCENTIVE_CANCEL", "INCENTIVE_USE_CANCEL", "PAYMENT_CANCEL"];
    expect(ofIt.sort()).toEqual([...paid, ...cancelled].sort());
  });

  test("filters by one type, several types and time", async () => {
    for (const types of ["PAYMENT", "CHARGE,REFUND", "PAYMENT,PAYMENT_CANCEL,TRANSFER", "INCENTIVE"]) {
      const wanted = played.normal.filter(([type]) => types.split(",").includes(type));
      expect([types, (await list(`&type=${types}`)).items.map(lineOf)]).toEqual([types, wanted]);
    }
    const { items } = await list("");
    const { createdAt } = items[3];
    const [since, until] = [await list(`&from=${createdAt}`), await list(`&to=${createdAt}`)];
    expect([since.items.length, until.items.length]).toEqual([4, 3]);
  });

  test("is the same by cursor and by page, and agrees with the lists of its sources", async () => {
    const { normalId } = played;
    const lists = [`/api/wallets/${normalId}/transactions`, `/api/wallets/payment?walletId=${normalId}`];
    for (const path of [...lists, "/api/wallets/charge", "/api/wallets/transfer", "/api/wallets"]) {
      const [byCursor, byNumber] = await readPages(api, path, 2);
      expect([path, byNumber]).toEqual([path, byCursor]);
      expect(byCursor.length).toBeGreaterThan(0);
    }
  });

  test("refuses an unknown type and names the ten", async () => {
    const { body } = await api.call("GET", `/api/wallets/${played.normalId}/transactions?type=GIFT`);
    const [{ path, message }] = body.error!.details!.fields as [{ path: string; message: string }];
    const types = new Set([...played.normal, ...played.incentive].map(([type]) => type));
    expect(types.size).toBe(10);
    expect([path, [...types].filter((type) => !message.includes(type))]).toEqual(["type", []]);
  });
});

test("any sequence of commands, replays and changed replays follows the model", async () => {
  const options = ["--daily-limit", String(DAILY_LIMIT), "--incentive-bps", String(INCENTIVE_BPS)];
  const { api } = await newOrganisation(stack.stack(), ...options);
  const seed = Number(process.env.WONRAIL_SEED ?? randomInt(2 ** 31));
  process.stderr.write(`  sequences: WONRAIL_SEED=${seed}\n`);
  // Runs sixteen at a time, because each waits mostly for the network.
  const many = fc.array(moves, { minLength: 16, maxLength: 16 });
  const property = fc.asyncProperty(many, async (sequences) => {
    await withinOneDay();
    await Promise.all(sequences.map((sequence) => play(api, sequence)));
  });
  const limits = { interruptAfterTimeLimit: 540_000, markInterruptAsFailure: true };
  await fc.assert(property, { numRuns: SEQUENCE_RUNS, seed, ...limits });
});

test("the document's examples, requested in order, are answered as documented", async () => {
  const { api } = await newOrganisation(stack.stack(), "--incentive-bps", "100");
  const { documented, actual } = await replayExamples(api);
  expect(documented.length).toBeGreaterThan(20);
  expect(actual).toEqual(documented);
});

const browser = findBrowser();
if (browser === undefined)
  reportSkipped("/api/docs is not opened, no browser is installed (Debian: apt-get install chromium)");

(browser === undefined ? test.skip : test)(
  "the API's pages take the key and make calls, with the examples as they are",
  async () => {
    const { docsUrl, organisations } = stack.stack();
    const page = await openPage(browser!);
    try {
      await authorise(page, docsUrl, organisations[0]!.apiKey);
      const session = await execute(page, {
        tag: "authentication",
        method: "GET",
        path: "/api/wallet-auth/session",
      });
      expect([session.status, session.text]).toEqual([
        "200",
        expect.stringContaining(organisations[0]!.orgCode),
      ]);
      const made = await execute(page, { tag: "wallets", method: "POST", path: "/api/wallets" });
      expect([made.status, made.text]).toEqual(["201", expect.stringContaining("wal_")]);
      expect(page.complaints()).toEqual([]);
      mkdirSync(dirname(SCREENSHOT), { recursive: true });
      writeFileSync(SCREENSHOT, await page.screenshot());
      process.stderr.write(`  what /api/docs looks like: ${SCREENSHOT}\n`);
    } finally {
      await page.close();
    }
  },
);

/** Reads every balance, hold and line number of the organisations, and the count of their lines. */
async function ledgerOf(...organisations: NewOrganisation[]): Promise<unknown> {
  const ids = organisations.map(({ orgId }) => orgId.slice("org_".length));
  const accounts = await ledger.query(sql`
    select id, balance_won, held_won, sequence, limit_used_won, closed_at from accounts
    where org_id = any(${ids}::uuid[]) order by id`);
  expect(accounts.length).toBeGreaterThan(4);
  const postings = await ledger.one(sql`select count(*) from postings where org_id = any(${ids}::uuid[])`);
  return { accounts, postings };
}

async function createFixtures(api: Api, stranger: Api): Promise<Fixtures> {
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

/** A user with money, a second one, and a payment between them. */
async function makeMoney(api: Api, tag = "user") {
  const [one, two] = [
    await api.post("/api/wallets", { userId: `${tag} one`, walletType: "NORMAL" }),
    await api.post("/api/wallets", { userId: `${tag} two`, walletType: "NORMAL" }),
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

/** A transaction of a network that the service does not watch. */
function record(address: string) {
  const network = { fromNetworkType: "BASE_SEPOLIA", toNetworkType: "BASE_SEPOLIA" };
  const what = { fromAddress: address, toAddress: address, amount: "1000000" };
  return { paymentType: "INSTANT", txHash: `0x${randomBytes(32).toString("hex")}`, ...network, ...what };
}

/** A scheduled transaction that is due long after the test. */
function scheduledRecord(address: string): object {
  const { txHash: _, ...rest } = record(address);
  return { ...rest, paymentType: "SCHEDULED", scheduledAt: new Date(Date.now() + 86_400_000).toISOString() };
}

function isJson(text: string): boolean {
  try {
    return typeof JSON.parse(text) === "object";
  } catch {
    return false;
  }
}
