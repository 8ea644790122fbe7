// Retries over real connections that break in every way.
import { OutcomeUnknownError, RateLimitError, ServerError, ServiceClient } from "../src/index.ts";
import { type Fault, faultServer, type FaultServer } from "./support/faultServer.ts";

/** Long enough for a busy machine. */
const TIMEOUT_MS = 3_000;
let server: FaultServer;
afterEach(() => server.close());

async function charge(faults: Fault[], options: { maxRetries?: number; idempotencyKey?: string } = {}) {
  server = await faultServer(faults);
  const client = new ServiceClient({ baseUrl: server.url, apiKey: "wk_test_1", timeoutMs: TIMEOUT_MS });
  return client.charges.create({ walletId: "wal_1", amount: 50_000 }, options);
}

test.each<[Fault[]]>([
  [["drop before"]],
  [["drop after"]],
  [["reset after"]],
  [["slow after"]],
  [["503 before"]],
  [["429 before"]],
  [["502 page after"]],
  [["drop after", "reset after"]],
])("%p: one effect, and an answer in the end", async (faults) => {
  const { chargeId } = await charge(faults);
  expect(chargeId).toBe("chg_1");
  expect(server.effects).toHaveLength(1);
  expect(server.seen).toHaveLength(faults.length + 1);
  expect(new Set(server.seen.map(({ key }) => key)).size).toBe(1);
});

test("429 with Retry-After: the next attempt waits as long as asked", async () => {
  await charge(["429 before"]);
  const [first, second] = server.seen;
  expect(second!.atMs - first!.atMs).toBeGreaterThanOrEqual(1_000);
});

test("500 after success is not retried, and a later call with the same key has no second effect", async () => {
  const call = charge(["500 after"], { idempotencyKey: "order-7" });
  await expect(call).rejects.toMatchObject({ code: "SYS_001", idempotencyKey: "order-7" });
  await expect(call).rejects.toBeInstanceOf(ServerError);
  await expect(call).rejects.not.toBeInstanceOf(OutcomeUnknownError);
  expect(server.seen).toHaveLength(1);

  const client = new ServiceClient({ baseUrl: server.url, apiKey: "wk_test_1" });
  await client.charges.create({ walletId: "wal_1", amount: 50_000 }, { idempotencyKey: "order-7" });
  expect(server.effects).toEqual(["order-7"]);
});

test("a redirect is not followed, because it would carry the key elsewhere", async () => {
  await expect(charge(["redirect before"])).rejects.toMatchObject({ cause: { status: 307 } });
  expect(server.seen).toHaveLength(1);
  expect(server.effects).toEqual([]);
});

test("the last failure is thrown when the retries are used up", async () => {
  await expect(charge(["429 before", "429 before"], { maxRetries: 1 })).rejects.toBeInstanceOf(
    RateLimitError,
  );
  expect(server.seen).toHaveLength(2);
});

const ADDRESS = `0x${"ab".repeat(20)}`;
const LOST: Fault[] = ["drop after", "reset after", "slow after", "502 page after"];

test.each(LOST)("a scheduled record with a lost answer (%s) is created once", async (fault) => {
  server = await faultServer([fault]);
  const client = new ServiceClient({ baseUrl: server.url, apiKey: "wk_test_1", timeoutMs: TIMEOUT_MS });
  const scheduledAt = new Date(Date.now() + 60_000);
  const fields = { fromAddress: ADDRESS, toAddress: ADDRESS, amount: "1", scheduledAt };
  await client.transactions.create({ ...fields, paymentType: "SCHEDULED" });
  expect(server.effects).toHaveLength(1);
  expect(new Set(server.seen.map(({ key }) => key))).toEqual(new Set(server.effects));
  expect(server.seen).toHaveLength(2);
});

test("a record with its own key can be repeated when its time has passed", async () => {
  server = await faultServer([]);
  const client = new ServiceClient({ baseUrl: server.url, apiKey: "wk_test_1" });
  const scheduledAt = new Date(Date.now() - 60_000);
  const fields = { fromAddress: ADDRESS, toAddress: ADDRESS, amount: "1", scheduledAt };
  const request = { ...fields, paymentType: "SCHEDULED" } as const;
  await expect(client.transactions.create(request)).rejects.toMatchObject({ code: "REQ_001" });
  await client.transactions.create(request, { idempotencyKey: "rent-2026-01" });
  expect(server.effects).toEqual(["rent-2026-01"]);
});

test.each(LOST)("a DELETE with a lost answer (%s) is not retried", async (fault) => {
  server = await faultServer([fault]);
  const client = new ServiceClient({ baseUrl: server.url, apiKey: "wk_test_1", timeoutMs: TIMEOUT_MS });
  await expect(client.webhooks.delete("whk_1")).rejects.toThrow();
  expect(server.effects).toEqual(["no key"]);
  expect(server.seen).toHaveLength(1);
});

test("a hundred concurrent calls have a hundred effects over a network that loses half of the answers", async () => {
  const kinds: Fault[] = ["drop after", "none", "reset after", "none", "drop before", "none"];
  server = await faultServer(Array.from({ length: 120 }, (_, index) => kinds[index % kinds.length]!));
  const client = new ServiceClient({ baseUrl: server.url, apiKey: "wk_test_1", maxRetries: 8 });
  const calls = Array.from({ length: 100 }, () =>
    client.charges.create({ walletId: "wal_1", amount: 50_000 }),
  );
  await Promise.all(calls);
  expect(server.effects).toHaveLength(100);
}, 30_000);
