import { homeAt } from "./home";
import { readySummary } from "./readySummary";
import type { Stack } from "./stackFile";

const stack: Stack = {
  gatewayUrl: "http://127.0.0.1:8080",
  docsUrl: "http://127.0.0.1:8080/api/docs",
  consoleUrl: "http://127.0.0.1:8090",
  prometheusUrl: "http://127.0.0.1:9090",
  organisations: [{ name: "Demo Bank", orgCode: "DEMO", apiKey: "wk_test_abc", secretKey: "sk_test_def" }],
  services: {},
  postgres: { host: "127.0.0.1", port: 7432, urls: {} },
  bus: { kind: "feed" },
  chain: {
    rpcUrl: "http://127.0.0.1:7545",
    chainId: 31337,
    tokenAddress: "0x01",
    paymentManagerAddress: "0x02",
  },
};

test("the summary holds the times, the addresses, a key and a curl command to paste", () => {
  const times = { installMs: 41_000, buildMs: 20_500, startMs: 9_500 };
  const consoleLink = "http://127.0.0.1:8090/auth/link?token=abc";
  const text = readySummary({ stack, home: homeAt("/srv/wonrail"), consoleLink }, times);
  expect(text).toContain("Ready in 71.0 s (install 41.0 s, build 20.5 s, start 9.5 s).");
  expect(text).toContain('curl http://127.0.0.1:8080/api/wallet-auth/session -H "X-API-Key: wk_test_abc"');
  expect(text).toContain("/srv/wonrail/stack.json");
  expect(text).toContain(consoleLink);
  expect(text).not.toContain("sk_test_def");
});
