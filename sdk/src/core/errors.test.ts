import { inspect } from "node:util";
import { errorCodes } from "./errorCodes";
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
])("%s becomes a %p", (code, type) => {
  const error = serviceError({ code });
  expect(error).toBeInstanceOf(type);
  expect(error).toBeInstanceOf(ServiceError);
  expect(error.name).toBe(type.name);
  expect(error.message).toBe(errorMeanings[code].message);
  expect(error.retryable).toBe(errorMeanings[code].retryable);
});

test("every code has a class and a message", () => {
  for (const code of Object.keys(errorMeanings)) {
    const error = serviceError({ code });
    expect(error.constructor).not.toBe(ServiceError);
    expect(error.message).toMatch(/\.$/);
  }
});

test("a code of a newer service becomes the class of its status", () => {
  const error = serviceError({ code: "NEW_001", status: 404, message: "The thing does not exist." });
  expect(error).toBeInstanceOf(NotFoundError);
  expect(error.code).toBe("NEW_001");
  expect(isErrorCode("NEW_001")).toBe(false);
  expect(isErrorCode("toString")).toBe(false);
});

test("a timeout is also a connection error", () => {
  expect(serviceError({ code: "SDK_002" })).toBeInstanceOf(ConnectionError);
});

test("an error never shows a credential", () => {
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

test("console.log shows every cause of a failed fetch", () => {
  const refused = Object.assign(new Error("connect ECONNREFUSED 127.0.0.1:1"), { code: "ECONNREFUSED" });
  const error = serviceError({ code: "SDK_001", cause: new TypeError("fetch failed", { cause: refused }) });
  const shown = "cause: TypeError: fetch failed < Error ECONNREFUSED: connect ECONNREFUSED 127.0.0.1:1";
  expect(inspect(error).split("\n").at(-1)).toBe(`  ${shown}`);
  const endless = new Error("again");
  endless.cause = endless;
  expect(inspect(serviceError({ code: "SDK_001", cause: endless })).match(/again/g)).toHaveLength(5);
});

test("an error keeps its name when a bundler renames its class", () => {
  const was = Object.getOwnPropertyDescriptor(RefusedError, "name")!;
  Object.defineProperty(RefusedError, "name", { ...was, value: "t" });
  const error = new RefusedError({ code: "TRF_001" });
  Object.defineProperty(RefusedError, "name", was);
  expect([error.name, error.toJSON()["name"]]).toEqual(["RefusedError", "RefusedError"]);
});

test("instanceof accepts errors of another copy of the library", () => {
  let other = { serviceError };
  jest.isolateModules(() => (other = jest.requireActual<typeof other>("./errors.ts")));
  expect(other.serviceError).not.toBe(serviceError);
  const error: unknown = other.serviceError({ code: "SYS_003", outcomeUnknown: true });
  for (const type of [ServiceError, ServerError, OutcomeUnknownError]) expect(error).toBeInstanceOf(type);
  for (const type of [RefusedError, ConnectionError, TypeError]) expect(error).not.toBeInstanceOf(type);
  class OwnError extends RefusedError {}
  const own = new OwnError({ code: "TRF_001" });
  expect([own instanceof OwnError, own instanceof RefusedError, own.name]).toEqual([true, true, "OwnError"]);
  expect(other.serviceError({ code: "TRF_001" })).not.toBeInstanceOf(OwnError);
  for (const none of [undefined, null, "ServiceError", new Error("ServiceError"), { name: "ServiceError" }])
    expect(none).not.toBeInstanceOf(ServiceError);
});

test("an error in a log line holds the facts for support", () => {
  const error = serviceError({ code: "TRF_001", status: 400, requestId: "req_1", idempotencyKey: "order-7" });
  expect(JSON.parse(JSON.stringify(error))).toEqual({
    name: "RefusedError",
    code: "TRF_001",
    status: 400,
    message: errorCodes.TRF_001.message,
    details: null,
    requestId: "req_1",
    idempotencyKey: "order-7",
    retryable: false,
    outcomeUnknown: false,
    replayed: false,
  });
});

test("String(error) shows class, code, message, fields and request id", () => {
  const fields = [
    { path: "amount", message: "must be a whole number of KRW" },
    { path: "memo", message: "must be at most 200 characters long" },
  ];
  const error = serviceError({
    code: "REQ_001",
    message: "It is wrong.",
    details: { fields },
    requestId: "req_1",
  });
  expect(String(error)).toBe(
    "InvalidRequestError REQ_001: It is wrong. amount must be a whole number of KRW; memo must be at " +
      "most 200 characters long. (requestId req_1)",
  );
  expect(String(serviceError({ code: "TRF_001", message: "Too little." }))).toBe(
    "RefusedError TRF_001: Too little.",
  );
  expect(String(serviceError({ code: "REQ_001", details: { fields: [null, "odd"] } }))).toMatch(
    /^InvalidRequestError REQ_001: /,
  );
});
