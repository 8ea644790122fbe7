import { failure, type Answer, fakeFetch, silence, success } from "../../test/support/fakeFetch.ts";
import { ServiceClient } from "../client.ts";
import { AbortedError, NotFoundError, WaitTimeoutError } from "../core/errors.ts";
import type { Settlement } from "./shared.ts";
import type { TransactionResponse } from "./transactions.ts";

const ID = "txn_1";
const pending = () => success({ id: ID, status: "PENDING" });
const confirmed = () => success({ id: ID, status: "CONFIRMED" });
const isFinal = ({ status }: TransactionResponse) => status !== "PENDING";

beforeEach(() => jest.useFakeTimers({ now: 0 }));
afterEach(() => jest.useRealTimers());

function clientOf(...answers: Answer[]) {
  const times: number[] = [];
  const { fetch, asked } = fakeFetch(...answers);
  const timed: typeof fetch = (...args) => {
    times.push(Date.now());
    return fetch(...args);
  };
  const client = new ServiceClient({ baseUrl: "https://service", apiKey: "wk_test_1", fetch: timed });
  return { client, times, asked };
}

/** Returns value or error, so that a rejection is handled while timers advance. */
function outcomeOf<T>(promise: Promise<T>): Promise<{ value: T } | { error: unknown }> {
  return promise.then(
    (value) => ({ value }),
    (error: unknown) => ({ error }),
  );
}

test("reads at once and then every 1.5 seconds until the predicate is true", async () => {
  const { client, times } = clientOf(pending(), pending(), confirmed());
  const waiting = outcomeOf(client.transactions.waitForStatus(ID, isFinal));
  await jest.advanceTimersByTimeAsync(3_000);
  expect(await waiting).toMatchObject({ value: { status: "CONFIRMED" } });
  expect(times).toEqual([0, 1_500, 3_000]);
  expect(jest.getTimerCount()).toBe(0);
});

test("keeps its interval when answers are slow", async () => {
  const slow: Answer = () => new Promise((resolve) => setTimeout(() => resolve(pending()), 400));
  const { client, times } = clientOf(slow, slow, confirmed());
  const waiting = outcomeOf(client.transactions.waitForStatus(ID, isFinal));
  await jest.advanceTimersByTimeAsync(3_000);
  await waiting;
  expect(times).toEqual([0, 1_500, 3_000]);
});

test("gives up after 60 seconds with the last state", async () => {
  const { client, times } = clientOf(pending());
  const waiting = outcomeOf(client.transactions.waitForStatus(ID, isFinal));
  await jest.advanceTimersByTimeAsync(59_999);
  expect(times).toHaveLength(40);
  await jest.advanceTimersByTimeAsync(1);
  const { error } = (await waiting) as { error: WaitTimeoutError<TransactionResponse> };
  expect(error).toBeInstanceOf(WaitTimeoutError);
  expect(error).toMatchObject({ code: "SDK_005", lastState: { id: ID, status: "PENDING" } });
  expect(times).toHaveLength(40);
  expect(jest.getTimerCount()).toBe(0);
});

test("gives up on time when an answer is missing", async () => {
  const { client } = clientOf(pending(), silence);
  const waiting = outcomeOf(
    client.transactions.waitForStatus(ID, isFinal, { intervalMs: 1_000, timeoutMs: 5_000 }),
  );
  await jest.advanceTimersByTimeAsync(5_000);
  const { error } = (await waiting) as { error: WaitTimeoutError };
  expect(error).toBeInstanceOf(WaitTimeoutError);
  expect(error.lastState).toMatchObject({ status: "PENDING" });
  expect(error.cause).toMatchObject({ code: "SDK_002" });
});

test("a pause that outlasts the timeout ends the wait with the last state", async () => {
  const { client, times } = clientOf(pending());
  const waiting = outcomeOf(client.transactions.waitForStatus(ID, isFinal, { timeoutMs: 5_000 }));
  await jest.advanceTimersByTimeAsync(1_000);
  const now = jest.spyOn(performance, "now").mockReturnValue(performance.now() + 60_000);
  await jest.advanceTimersByTimeAsync(500);
  now.mockRestore();
  expect(await waiting).toMatchObject({ error: { code: "SDK_005", lastState: { status: "PENDING" } } });
  expect(times).toEqual([0]);
});

const HOUR_MS = 3_600_000;

test.each([
  ["back", -HOUR_MS],
  ["forward", HOUR_MS],
])("a clock that is set %s by an hour changes neither interval nor end", async (_, byMs) => {
  const { client, times } = clientOf(pending());
  const waiting = outcomeOf(client.transactions.waitForStatus(ID, isFinal, { timeoutMs: 5_000 }));
  await jest.advanceTimersByTimeAsync(1_000);
  jest.setSystemTime(Date.now() + byMs);
  await jest.advanceTimersByTimeAsync(3_999);
  expect(times).toEqual([0, 1_500 + byMs, 3_000 + byMs, 4_500 + byMs]);
  expect(jest.getTimerCount()).toBe(1);
  await jest.advanceTimersByTimeAsync(1);
  expect(await waiting).toMatchObject({ error: { code: "SDK_005", lastState: { status: "PENDING" } } });
  expect(jest.getTimerCount()).toBe(0);
});

test("fractions of a millisecond give a valid limit", async () => {
  const { client, times } = clientOf(pending(), confirmed());
  const now = jest.spyOn(performance, "now").mockImplementation(() => Date.now() * 1.0001);
  const waiting = outcomeOf(client.transactions.waitForStatus(ID, isFinal, { timeoutMs: 5_000 }));
  await jest.advanceTimersByTimeAsync(1_500);
  now.mockRestore();
  expect(await waiting).toMatchObject({ value: { status: "CONFIRMED" } });
  expect(times).toEqual([0, 1_500]);
});

test("an interval and a timeout of the call are used", async () => {
  const { client, times } = clientOf(pending());
  const waiting = outcomeOf(
    client.transactions.waitForStatus(ID, isFinal, { intervalMs: 100, timeoutMs: 250 }),
  );
  await jest.advanceTimersByTimeAsync(250);
  expect(await waiting).toMatchObject({ error: { code: "SDK_005" } });
  expect(times).toEqual([0, 100, 200]);
});

test("retryable failures do not end the wait, and Retry-After is obeyed", async () => {
  const busy = failure(503, "SYS_002", null, { "retry-after": "4" });
  const { client, times } = clientOf(new TypeError("fetch failed"), busy, confirmed());
  const waiting = outcomeOf(client.transactions.waitForStatus(ID, isFinal));
  await jest.advanceTimersByTimeAsync(6_000);
  expect(await waiting).toMatchObject({ value: { status: "CONFIRMED" } });
  expect(times).toEqual([0, 1_500, 5_500]);
});

test("ends at once on a failure that is not retryable", async () => {
  const { client, times } = clientOf(pending(), failure(404, "TX_001"));
  const waiting = outcomeOf(client.transactions.waitForStatus(ID, isFinal));
  await jest.advanceTimersByTimeAsync(1_500);
  const { error } = (await waiting) as { error: unknown };
  expect(error).toBeInstanceOf(NotFoundError);
  expect(times).toHaveLength(2);
});

test("a failure of the last read is the cause, and the last state is kept", async () => {
  const { client } = clientOf(pending(), new TypeError("fetch failed"));
  const waiting = outcomeOf(client.transactions.waitForStatus(ID, isFinal, { timeoutMs: 4_000 }));
  await jest.advanceTimersByTimeAsync(4_000);
  const { error } = (await waiting) as { error: WaitTimeoutError };
  expect(error.lastState).toMatchObject({ status: "PENDING" });
  expect(error.cause).toMatchObject({ code: "SDK_001" });
});

test("a signal ends the pause, and the reason is the cause", async () => {
  const { client, times } = clientOf(pending());
  const controller = new AbortController();
  const waiting = outcomeOf(client.transactions.waitForStatus(ID, isFinal, { signal: controller.signal }));
  await jest.advanceTimersByTimeAsync(2_000);
  controller.abort(new Error("the user left"));
  const { error } = (await waiting) as { error: AbortedError };
  expect(error).toBeInstanceOf(AbortedError);
  expect(error.cause).toEqual(new Error("the user left"));
  expect(times).toHaveLength(2);
  expect(jest.getTimerCount()).toBe(0);
});

test("a signal ends a read in flight, and an aborted signal prevents sending", async () => {
  const { client, times } = clientOf(silence);
  const controller = new AbortController();
  const waiting = outcomeOf(client.transactions.waitForStatus(ID, isFinal, { signal: controller.signal }));
  await jest.advanceTimersByTimeAsync(10);
  controller.abort();
  expect(await waiting).toMatchObject({ error: { code: "SDK_003" } });
  const again = outcomeOf(client.transactions.waitForStatus(ID, isFinal, { signal: controller.signal }));
  expect(await again).toMatchObject({ error: { code: "SDK_003" } });
  expect(times).toHaveLength(1);
});

test("an error of the predicate rejects the wait", async () => {
  const { client } = clientOf(pending());
  const mistake = new RangeError("no such state");
  const throwing = () => {
    throw mistake;
  };
  await expect(client.transactions.waitForStatus(ID, throwing)).rejects.toBe(mistake);
  await expect(client.transactions.waitForStatus(ID, () => Promise.reject(mistake))).rejects.toBe(mistake);
  expect(jest.getTimerCount()).toBe(0);
});

test("a predicate may be asynchronous", async () => {
  const { client } = clientOf(confirmed());
  const waiting = client.transactions.waitForStatus(ID, async (transaction) => isFinal(transaction));
  await expect(waiting).resolves.toMatchObject({ status: "CONFIRMED" });
});

test.each([
  ["transfers", "trf_1", "/api/wallets/transfer/trf_1"],
  ["charges", "chg_1", "/api/wallets/charge/chg_1"],
  ["payments", "pay_1", "/api/wallets/payment/pay_1"],
] as const)("%s.waitFor reads the object until its settlement is confirmed", async (resource, id, path) => {
  const settled = (status: string) => success({ settlement: { status } });
  const { client, times, asked } = clientOf(settled("PENDING"), settled("SUBMITTED"), settled("CONFIRMED"));
  const isSettled = ({ settlement }: { settlement: Settlement }) => settlement.status === "CONFIRMED";
  const waiting = outcomeOf<object>(client[resource].waitFor(id, isSettled));
  await jest.advanceTimersByTimeAsync(3_000);
  expect(await waiting).toMatchObject({ value: { settlement: { status: "CONFIRMED" } } });
  expect(times).toEqual([0, 1_500, 3_000]);
  expect(asked.map(({ url }) => url.pathname)).toEqual([path, path, path]);
});

test("payments.waitFor gives up with the last state of the payment", async () => {
  const { client } = clientOf(success({ paymentId: "pay_1", status: "PAID" }));
  const waiting = outcomeOf(client.payments.waitFor("pay_1", () => false, { timeoutMs: 3_000 }));
  await jest.advanceTimersByTimeAsync(3_000);
  const expected = { code: "SDK_005", lastState: { paymentId: "pay_1", status: "PAID" } };
  expect(await waiting).toMatchObject({ error: expected });
});
