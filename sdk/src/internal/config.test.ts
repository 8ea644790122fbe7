import { ServiceClient } from "../client.ts";
import { ConfigurationError } from "../core/errors.ts";

const saved = { ...process.env };
const given = { baseUrl: "http://service", apiKey: "wk_test_1" };

afterEach(() => {
  process.env = { ...saved };
});

test("what is not given comes from the environment", () => {
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
  ["no apiKey", { baseUrl: "http://service" }],
  ["an empty apiKey", { ...given, apiKey: "" }],
  ["an apiKey with a line break", { ...given, apiKey: "wk_test_1\n" }],
  ["an orgCode that is no header", { ...given, orgCode: "a\r\nb" }],
  ["a baseUrl that is none", { ...given, baseUrl: "service" }],
  ["a baseUrl of another scheme", { ...given, baseUrl: "file:///etc" }],
  ["a baseUrl with a password", { ...given, baseUrl: "http://a:b@service" }],
  ["a time-out of nothing", { ...given, timeoutMs: 0 }],
  ["retries without end", { ...given, maxRetries: Infinity }],
  ["an unknown log level", { ...given, logLevel: "all" }],
])("refuses %s", (_name, options) => {
  delete process.env["WONRAIL_BASE_URL"];
  delete process.env["WONRAIL_API_KEY"];
  expect(() => new ServiceClient(options)).toThrow(ConfigurationError);
});

test("says what is wrong with a key without repeating it", () => {
  const construct = () => new ServiceClient({ ...given, apiKey: "not printable \u0000 secret" });
  expect(construct).toThrow(/apiKey must be printable ASCII/);
  expect(construct).not.toThrow(/secret/);
});

test("refuses a browser unless told", () => {
  const browser = globalThis as { window?: unknown; document?: unknown };
  Object.assign(browser, { window: {}, document: {} });
  try {
    expect(() => new ServiceClient(given)).toThrow(/In a browser everybody can read the API key/);
    expect(new ServiceClient({ ...given, dangerouslyAllowBrowser: true }).baseUrl).toBe("http://service");
  } finally {
    delete browser.window;
    delete browser.document;
  }
});

test("works where there is no process, as at the edge", () => {
  const { process: own } = globalThis;
  Reflect.deleteProperty(globalThis, "process");
  try {
    expect(new ServiceClient(given).baseUrl).toBe("http://service");
  } finally {
    globalThis.process = own;
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
