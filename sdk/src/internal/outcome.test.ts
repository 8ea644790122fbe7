// The outcome of a changing call after the answer of an attempt was lost.
import { type Answer, failure, fakeFetch, silence, success } from "../../test/support/fakeFetch.ts";
import { ServiceClient } from "../client.ts";
import {
  BadAnswerError,
  ConflictError,
  ConnectionError,
  OutcomeUnknownError,
  RefusedError,
  ServerError,
  type ServiceError,
  UnavailableError,
} from "../core/errors.ts";

const transfer = { fromWalletId: "wal_1", toWalletAddress: `0x${"ab".repeat(20)}`, amount: 1000 };
const dropped = new TypeError("fetch failed");
const page = (status: number) => new Response("<html>", { status });
const busy = failure(503, "SYS_002");

beforeEach(() => jest.useFakeTimers({ now: 0 }));
afterEach(() => jest.useRealTimers());

/** Makes an attempt for each answer, passes all pauses, and returns the error. */
async function errorOf(answers: Answer[], call: (client: ServiceClient) => PromiseLike<unknown>) {
  const { fetch, asked } = fakeFetch(...answers);
  const maxRetries = answers.length - 1;
  const client = new ServiceClient({ baseUrl: "https://service", apiKey: "wk_test_1", maxRetries, fetch });
  const failed = call(client).then(
    () => undefined,
    (error: unknown) => error,
  );
  await jest.advanceTimersByTimeAsync(600_000);
  return { error: (await failed) as ServiceError, asked: asked.length };
}

const send = (client: ServiceClient) => client.transfers.create(transfer, { idempotencyKey: "order-7" });

test.each<[string, Answer[], string]>([
  ["an ingress that lost the answer each time", [page(504), page(504), page(504)], "SDK_004"],
  ["a lost answer, then the page of a firewall", [dropped, page(403)], "SDK_004"],
  ["a lost answer, then the page of another server", [dropped, page(404)], "SDK_004"],
  ["the page of a firewall, which may stand before the answer", [page(403)], "SDK_004"],
  ["a success whose body is no envelope", [page(200)], "SDK_004"],
  ["a success whose body breaks off", [new Response('{"success":true,"data":{"tran')], "SDK_004"],
  ["a redirect, which may hide a failure behind the proxy", [page(302)], "SDK_004"],
  ["a lost answer, then turned away again and again", [dropped, busy, busy], "SYS_002"],
  ["a lost answer, then our mistake", [dropped, failure(500, "SYS_001")], "SYS_001"],
  ["a lost answer, then a release that does not have it", [silence, failure(501, "SYS_004")], "SYS_004"],
  ["a lost answer, then a new code of the service's side", [dropped, failure(507, "SYS_009")], "SYS_009"],
])("%s: the outcome of a money call is unknown", async (_name, answers, last) => {
  const { error, asked } = await errorOf(answers, send);
  expect(asked).toBe(answers.length);
  expect(error).toBeInstanceOf(OutcomeUnknownError);
  expect(error).toMatchObject({
    code: "SYS_003",
    idempotencyKey: "order-7",
    retryable: true,
    cause: { code: last },
  });
});

test.each<[string, Answer[], typeof ServiceError]>([
  ["the page of a server that is not ours", [page(404)], BadAnswerError],
  ["a proxy that counts requests", [page(429), page(429)], BadAnswerError],
  ["our mistake at once", [failure(500, "SYS_001")], ServerError],
  ["turned away each time", [page(429), busy], UnavailableError],
  ["a lost answer, then a refusal of the request itself", [dropped, failure(400, "TRF_001")], RefusedError],
])("%s: the error stays unchanged", async (_name, answers, type) => {
  const { error } = await errorOf(answers, send);
  expect(error.constructor).toBe(type);
});

test.each<[boolean, string, Answer[], typeof ServiceError]>([
  [true, "no answer", [dropped], ConnectionError],
  [true, "no answer, then turned away", [dropped, busy], OutcomeUnknownError],
  [true, "an answer of somebody else", [page(502)], OutcomeUnknownError],
  [true, "our mistake, of which nobody says what it left behind", [failure(500, "SYS_001")], ServerError],
  [true, "still running", [failure(409, "REQ_002")], ConflictError],
  [false, "turned away", [busy], UnavailableError],
  [false, "a page that was not passed on", [page(404)], BadAnswerError],
  [false, "a release that does not have it", [failure(501, "SYS_004")], ServerError],
  [false, "refused", [failure(400, "TRF_001")], RefusedError],
])("outcomeUnknown is %p after %s", async (outcomeUnknown, _name, answers, type) => {
  const { error } = await errorOf(answers, send);
  expect(error).toBeInstanceOf(type);
  expect(error.outcomeUnknown).toBe(outcomeUnknown);
});

test("outcomeUnknown is set for calls without a key, and never for reads", async () => {
  const remove = (client: ServiceClient) => client.webhooks.delete("whk_1");
  expect((await errorOf([dropped], remove)).error).toMatchObject({
    code: "SDK_001",
    outcomeUnknown: true,
  });
  expect((await errorOf([page(200)], remove)).error).toMatchObject({
    code: "SDK_004",
    outcomeUnknown: true,
  });
  for (const answer of [dropped, page(502), failure(500, "SYS_001"), failure(504, "SYS_003")])
    expect((await errorOf([answer], (client) => client.wallets.get("wal_1"))).error.outcomeUnknown).toBe(
      false,
    );
});

test.each<[boolean, string, Answer, number]>([
  [false, "before it was sent", success({}), 0],
  [true, "while it was under way", silence, 10],
  [true, "in the pause after an answer that was lost", dropped, 10],
  [false, "in the pause after it was turned away", busy, 10],
])("outcomeUnknown is %p for a money call that was aborted %s", async (outcomeUnknown, _name, answer, ms) => {
  const controller = new AbortController();
  if (ms === 0) controller.abort();
  else setTimeout(() => controller.abort(), ms);
  const { error } = await errorOf([answer, answer], ({ transfers }) =>
    transfers.create(transfer, { signal: controller.signal }),
  );
  expect(error).toMatchObject({ code: "SDK_003", outcomeUnknown });
});

test("a refusal has replayed set when it was stored for its key", async () => {
  const kept = failure(400, "TRF_001", null, { "idempotent-replayed": "true" });
  expect((await errorOf([kept], send)).error).toMatchObject({ code: "TRF_001", replayed: true });
  expect((await errorOf([failure(400, "TRF_001")], send)).error.replayed).toBe(false);
  expect((await errorOf([dropped], send)).error.replayed).toBe(false);
});

const confirm = ({ transactions }: ServiceClient) =>
  transactions.updateStatus("txn_1", { status: "CONFIRMED" });

test.each<[string, Answer[]]>([
  ["turned away", [dropped, busy]],
  ["turned away at the rate", [silence, failure(429, "RATE_001")]],
  ["our mistake", [dropped, failure(500, "SYS_001")]],
  ["a page of a proxy", [page(502), page(502)]],
])("a PATCH with a lost answer and then %s has an unknown outcome", async (_name, answers) => {
  const { error } = await errorOf(answers, confirm);
  expect(error).toBeInstanceOf(OutcomeUnknownError);
  expect(error).toMatchObject({ code: "SYS_003", outcomeUnknown: true, idempotencyKey: undefined });
  expect(error.message).toBe("The outcome is not known. The same call is safe to repeat.");
});

test("a PATCH that was never executed and a failed read have no unknown outcome", async () => {
  expect((await errorOf([busy, busy], confirm)).error).toBeInstanceOf(UnavailableError);
  const { error } = await errorOf([dropped, busy], ({ transactions }) => transactions.get("txn_1"));
  expect(error).toBeInstanceOf(UnavailableError);
  expect(error.outcomeUnknown).toBe(false);
});

test.each<[string, (client: ServiceClient) => PromiseLike<unknown>]>([
  ["webhooks.delete", ({ webhooks }) => webhooks.delete("whk_1")],
  ["auth.revokeKey", ({ auth }) => auth.revokeKey()],
])("%s is retried only while it was not executed", async (_name, call) => {
  const refused = await errorOf([failure(429, "RATE_001"), busy, failure(409, "WAL_001")], call);
  expect(refused).toMatchObject({ asked: 3, error: { code: "WAL_001" } });
  const lost = await errorOf([busy, dropped, success({})], call);
  expect(lost).toMatchObject({ asked: 2, error: { code: "SDK_001", outcomeUnknown: true } });
  for (const answer of [page(502), page(503), failure(504, "SYS_003"), failure(503, "SYS_009")])
    expect((await errorOf([answer, success({})], call)).asked).toBe(1);
});
