import { fakeFetch, success } from "../../test/support/fakeFetch.ts";
import { ServiceClient } from "../client.ts";
import { ConfigurationError } from "../core/errors.ts";

const saved = { ...process.env };
const given = { baseUrl: "https://service", apiKey: "wk_test_1" };

afterEach(() => {
  process.env = { ...saved };
});

test("missing options come from the environment", () => {
  Object.assign(process.env, {
    WONRAIL_BASE_URL: "https://api.example.com/",
    WONRAIL_API_KEY: "wk_test_1",
    WONRAIL_ORG_CODE: "ACME",
  });
  expect(new ServiceClient()).toMatchObject({ baseUrl: "https://api.example.com", orgCode: "ACME" });
  expect(new ServiceClient({ orgCode: "OTHER" }).orgCode).toBe("OTHER");
});

test.each<[string, object]>([
  ["no baseUrl", { apiKey: "wk_test_1" }],
  ["no apiKey", { baseUrl: "https://service" }],
  ["an empty apiKey", { ...given, apiKey: "" }],
  ["an apiKey with a line break", { ...given, apiKey: "wk_test_1\n" }],
  ["an orgCode that is no header", { ...given, orgCode: "a\r\nb" }],
  ["a baseUrl that is none", { ...given, baseUrl: "service" }],
  ["a baseUrl of another scheme", { ...given, baseUrl: "file:///etc" }],
  ["a baseUrl with a password", { ...given, baseUrl: "http://a:b@service" }],
  ["a time-out of nothing", { ...given, timeoutMs: 0 }],
  ["retries without end", { ...given, maxRetries: Infinity }],
  ["an unknown log level", { ...given, logLevel: "all" }],
  ["a header that HTTP does not take", { ...given, headers: { "x-team": "a\nb" } }],
])("refuses %s", (_name, options) => {
  delete process.env["WONRAIL_BASE_URL"];
  delete process.env["WONRAIL_API_KEY"];
  expect(() => new ServiceClient(options)).toThrow(ConfigurationError);
});

test("the error of an invalid key does not repeat the key", () => {
  const construct = () => new ServiceClient({ ...given, apiKey: "not printable \u0000 secret" });
  expect(construct).toThrow(/apiKey must be printable ASCII/);
  expect(construct).not.toThrow(/secret/);
});

test.each([
  ["Idempotency-Key", "idempotencyKey"],
  ["idempotency-key", "idempotencyKey"],
  ["X-API-Key", "apiKey"],
  ["x-org-code", "orgCode"],
  ["Content-Type", "application/json"],
])("refuses the header %s, which the library sets itself, and names %s", async (name, instead) => {
  const { fetch, asked } = fakeFetch(success({}));
  const headers = { "x-team": "a", [name]: "mine" };
  const expected = {
    name: "ConfigurationError",
    code: "SDK_006",
    message: expect.stringContaining(instead) as string,
  };
  expect(() => new ServiceClient({ ...given, headers })).toThrow(expect.objectContaining(expected) as Error);
  const client = new ServiceClient({ ...given, fetch });
  for (const call of [
    client.charges.create({ walletId: "wal_1", amount: 1_000 }, { headers }),
    client.wallets.create({ userId: "u", walletType: "NORMAL" }, { headers }),
    client.wallets.list({}, { headers }),
    client.checkHealth({ headers }),
  ])
    await expect(call).rejects.toMatchObject(expected);
  expect(asked).toHaveLength(0);
});

test("headers may be a Headers object, and are copied", async () => {
  const { fetch, asked } = fakeFetch(success({}));
  const own = { "x-team": "a" };
  const client = new ServiceClient({ ...given, fetch, headers: own });
  own["x-team"] = "b";
  await client.checkHealth({ headers: new Headers({ "x-trace": "1" }) as never });
  expect(Object.fromEntries(asked[0]!.headers)).toMatchObject({ "x-team": "a", "x-trace": "1" });
  const keyed = new Headers({ "Idempotency-Key": "order-7" }) as never;
  await expect(client.charges.refund({ walletId: "wal_1" }, { headers: keyed })).rejects.toMatchObject({
    code: "SDK_006",
  });
});

test("refuses a browser unless it is allowed", () => {
  const browser = globalThis as { window?: unknown; document?: unknown };
  Object.assign(browser, { window: {}, document: {} });
  try {
    expect(() => new ServiceClient(given)).toThrow(/In a browser every visitor can read the API key/);
    expect(new ServiceClient({ ...given, dangerouslyAllowBrowser: true }).baseUrl).toBe("https://service");
  } finally {
    delete browser.window;
    delete browser.document;
  }
});

test("works without a global process, as on edge runtimes", () => {
  const { process: own } = globalThis;
  Reflect.deleteProperty(globalThis, "process");
  try {
    expect(new ServiceClient(given).baseUrl).toBe("https://service");
  } finally {
    globalThis.process = own;
  }
});

test("an unreadable variable counts as absent, as in Deno without --allow-env", () => {
  const denied = new Proxy(
    {},
    {
      get() {
        throw Object.assign(new Error("Requires env access"), { name: "NotCapable" });
      },
    },
  );
  const read = jest.replaceProperty(process, "env", denied);
  try {
    expect(new ServiceClient(given)).toMatchObject({ baseUrl: "https://service", orgCode: undefined });
    expect(() => new ServiceClient()).toThrow(/baseUrl is missing/);
  } finally {
    read.restore();
  }
});

test("the network can be another stack's", () => {
  const { network, explorer } = new ServiceClient({
    ...given,
    network: { explorerUrl: "http://scan", token: { address: "0x1" } },
  });
  expect(network).toMatchObject({ chainId: 31337, token: { address: "0x1", decimals: 6 } });
  expect(explorer.block(1)).toBe("http://scan/block/1");
});

test.each([
  "http://api.example.com",
  "http://10.0.0.7:3000",
  "http://127.0.0.1.example.com",
  "http://localhost.example.com",
])("refuses to send keys to %s without encryption", (baseUrl) => {
  const construct = () => new ServiceClient({ ...given, baseUrl });
  expect(construct).toThrow(ConfigurationError);
  expect(construct).toThrow(/https.*dangerouslyAllowHttp/);
  expect(new ServiceClient({ ...given, baseUrl, dangerouslyAllowHttp: true }).baseUrl).toBe(baseUrl);
});

test.each([
  "http://localhost:3000",
  "http://app.localhost",
  "http://127.0.0.1:3000",
  "http://127.9.9.9",
  "http://[::1]:3000",
])("accepts %s, which stays on this machine", (baseUrl) => {
  expect(new ServiceClient({ ...given, baseUrl }).baseUrl).toBe(baseUrl);
});
