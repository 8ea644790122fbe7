// Wrong arguments from plain JavaScript reject with a ServiceError and never throw.
import { ConfigurationError, ServiceClient, ServiceError } from "../src/index.ts";
import { fakeFetch, success } from "./support/fakeFetch.ts";

const { fetch, asked } = fakeFetch(success({ items: [], pagination: {} }));
const client = new ServiceClient({ baseUrl: "https://service", apiKey: "wk_test_1", fetch });
const resources = ["auth", "wallets", "transfers", "charges", "payments", "transactions"] as const;

type Method = (...args: unknown[]) => unknown;
const methods = [
  "checkHealth",
  ...resources.flatMap((resource) =>
    Object.getOwnPropertyNames(Object.getPrototypeOf(client[resource]))
      .filter((name) => name !== "constructor")
      .map((name) => `${resource}.${name}`),
  ),
];

/** The method with its owner as this. */
function methodOf(path: string): Method {
  const [name, ...within] = path.split(".").reverse();
  const owner = (within[0] === undefined ? client : Reflect.get(client, within[0])) as object;
  return (...args) => (Reflect.get(owner, name!) as Method).apply(owner, args);
}

const cycle: { self?: object } = {};
cycle.self = cycle;
const odd = [undefined, null, 0, 5n, "order-7", "", [], {}, Symbol("odd"), { metadata: { a: 5n } }, cycle];

beforeEach(() => {
  asked.length = 0;
});

test.each(methods)("%s never throws and rejects only with a ServiceError", async (path) => {
  const method = methodOf(path);
  const argumentLists = [
    [],
    ...odd.map((one) => [one]),
    ...odd.flatMap((one) => [{}, "id_1", one].map((first) => [first, one])),
    ...odd.map((one) => ["id_1", {}, one]),
  ];
  for (const args of argumentLists) {
    const call = method(...args);
    expect(call).toMatchObject({ then: expect.any(Function) as unknown });
    const failure = await (call as Promise<unknown>).then(
      () => undefined,
      (error: unknown) => error,
    );
    if (failure !== undefined) expect(failure).toBeInstanceOf(ServiceError);
  }
});

const charge = { walletId: "wal_1", amount: 50_000 };
test.each<[string, unknown[], object]>([
  ["charges.create", [], { path: "(body)", message: "must be an object" }],
  ["charges.refund", [], { path: "(body)", message: "must be an object" }],
  ["wallets.create", [null], { path: "(body)", message: "must be an object" }],
  ["auth.refreshKey", [], { path: "(body)", message: "must be an object" }],
  ["transactions.updateStatus", ["txn_1"], { path: "(body)", message: "must be an object" }],
  ["transfers.create", [[]], { path: "(body)", message: "must be an object" }],
  ["wallets.list", [null], { path: "(query)", message: "must be an object" }],
  ["wallets.listTransactions", ["wal_1", null], { path: "(query)", message: "must be an object" }],
  ["transactions.list", ["PENDING"], { path: "(query)", message: "must be an object" }],
  ["wallets.create", [{ userId: "u", metadata: { a: 5n } }], { path: "(body)" }],
  ["wallets.update", ["wal_1", { metadata: cycle }], { path: "(body)" }],
  ["charges.create", [charge, { idempotencyKey: null }], { path: "(header) Idempotency-Key" }],
  ["charges.create", [charge, { idempotencyKey: 7 }], { path: "(header) Idempotency-Key" }],
])("%s given %p is refused before sending, with the field", async (path, args, field) => {
  await expect(methodOf(path)(...args)).rejects.toMatchObject({
    name: "InvalidRequestError",
    code: "REQ_001",
    status: 400,
    details: { fields: [field] },
  });
  expect(asked).toHaveLength(0);
});

test.each<[string, unknown[], RegExp]>([
  ["charges.create", [charge, "order-7"], /options must be an object/],
  ["charges.create", [charge, { signal: new AbortController() }], /signal must be an AbortSignal/],
  ["wallets.get", ["wal_1", null], /options must be an object/],
  ["transactions.waitForStatus", ["txn_1", undefined], /predicate must be a function/],
  ["transactions.waitForStatus", ["txn_1", () => true, null], /options must be an object/],
])("%s given %p is refused with a remedy", async (path, args, message) => {
  const failure = await (methodOf(path)(...args) as Promise<unknown>).catch((error: unknown) => error);
  expect(failure).toBeInstanceOf(ConfigurationError);
  expect(failure).toMatchObject({ code: "SDK_006", message: expect.stringMatching(message) as string });
  expect(asked).toHaveLength(0);
});

test.each([
  [null, /options must be an object/],
  [{ baseUrl: "https://service", apiKey: "wk_test_1", network: null }, /network must be an object/],
])("a client with %p is refused", (options, message) => {
  const make = () => new ServiceClient(options as never);
  expect(make).toThrow(ConfigurationError);
  expect(make).toThrow(message);
});
