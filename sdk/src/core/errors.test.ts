import { inspect } from "node:util";
import {
  AuthenticationError,
  ConflictError,
  ConnectionError,
  ConnectionTimeoutError,
  type ErrorCode,
  errorMeanings,
  InvalidRequestError,
  isErrorCode,
  NotFoundError,
  OutcomeUnknownError,
  RefusedError,
  ServerError,
  ServiceError,
  serviceError,
  WaitTimeoutError,
} from "./errors.ts";

const KEY = "wk_test_0Ab3Cd6Ef9Gh_0123456789ABCDEFGHIJKLMNOPQRSTUV0AbC3d";
const SECRET = "sk_live_0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefg0AbC3d";

test.each<[ErrorCode, typeof ServiceError]>([
  ["WAUTH_002", AuthenticationError],
  ["WAL_002", NotFoundError],
  ["TX_002", ConflictError],
  ["TRF_001", RefusedError],
  ["PAY_002", InvalidRequestError],
  ["REQ_003", InvalidRequestError],
  ["SYS_003", OutcomeUnknownError],
  ["SYS_001", ServerError],
  ["SDK_002", ConnectionTimeoutError],
])("%s is a %p", (code, type) => {
  const error = serviceError({ code });
  expect(error).toBeInstanceOf(type);
  expect(error).toBeInstanceOf(ServiceError);
  expect(error.name).toBe(type.name);
  expect(error.message).toBe(errorMeanings[code].message);
  expect(error.retryable).toBe(errorMeanings[code].retryable);
});

test("every code has a class, a message and an advice", () => {
  for (const code of Object.keys(errorMeanings)) {
    const error = serviceError({ code });
    expect(error.constructor).not.toBe(ServiceError);
    expect(error.message).toMatch(/\.$/);
  }
});

test("a code of a newer service gets the class of its status", () => {
  const error = serviceError({ code: "NEW_001", status: 404, message: "The thing does not exist." });
  expect(error).toBeInstanceOf(NotFoundError);
  expect(error.code).toBe("NEW_001");
  expect(isErrorCode("NEW_001")).toBe(false);
  expect(isErrorCode("toString")).toBe(false);
});

test("a time-out is a connection error, so that one catch takes both", () => {
  expect(serviceError({ code: "SDK_002" })).toBeInstanceOf(ConnectionError);
});

test("no credential comes out of an error, by whichever way it went in", () => {
  const cause = new TypeError(`could not fetch with ${KEY}`);
  const error = serviceError({
    code: "REQ_001",
    message: `The key ${KEY} is wrong.`,
    details: { fields: [{ path: SECRET, message: SECRET }], nested: { [KEY]: 1 } },
    cause,
  });
  const waited = new WaitTimeoutError({ lastState: { memo: SECRET }, cause });
  for (const text of [error, waited].flatMap((one) => [
    JSON.stringify(one),
    inspect(one),
    String(one),
    one.stack,
  ]))
    expect(text).not.toMatch(/0123456789ABCDEF/);
  expect(JSON.stringify(error)).toContain("wk_test_[redacted]");
});

test("an error in a log line says what support needs", () => {
  const error = serviceError({ code: "TRF_001", status: 400, requestId: "req_1", idempotencyKey: "order-7" });
  expect(JSON.parse(JSON.stringify(error))).toEqual({
    name: "RefusedError",
    code: "TRF_001",
    status: 400,
    message: "The balance is too low for this transfer.",
    details: null,
    requestId: "req_1",
    idempotencyKey: "order-7",
    retryable: false,
    outcomeUnknown: false,
    replayed: false,
  });
});
