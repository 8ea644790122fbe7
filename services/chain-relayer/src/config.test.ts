import { readConfig } from "./config";

const SOUND = {
  ...{ DATABASE_URL: "postgres://own/db", BUS: "postgres", GRPC_PORT: "0", OPS_PORT: "0" },
  ...{ AUTH_ADDRESS: "auth:1", WALLET_ADDRESS: "wallet:1", LEDGER_ADDRESS: "ledger:1" },
  ...{ PAYMENT_ADDRESS: "payment:1", CHAIN_ID: "31337", NETWORK: "WON_TESTNET" },
  ...{ TOKEN_ADDRESS: `0x${"11".repeat(20)}`, PAYMENT_MANAGER_ADDRESS: `0x${"22".repeat(20)}` },
  ...{ OPERATOR_KEY: `0x${"33".repeat(32)}`, CHAIN_RPC_URLS: "https://rpc-a.example" },
};

function problemsOf(env: Record<string, string>): string[] {
  try {
    readConfig({ ...SOUND, ...env }, (message) => {
      throw new Error(message);
    });
    return [];
  } catch (error) {
    return (error as Error).message.split("\n").slice(1, -1);
  }
}

const NO_URLS = "  - CHAIN_RPC_URLS: must be http:// or https:// URLs, separated by commas";

test.each<[string, string[]]>([
  ["https://rpc-a.example/v1/key, http://chain:8545", []],
  ["https://user:pass%40word@rpc-a.example", []],
  [" , ", ["  - CHAIN_RPC_URLS: names no endpoint"]],
  ["localhost:7546", [NO_URLS]],
  ["htp://x", [NO_URLS]],
  ["ws://x", [NO_URLS]],
  ["http://chain:8545,not_a_url", [NO_URLS]],
])("the endpoints %j", (urls, problems) => {
  expect(problemsOf({ CHAIN_RPC_URLS: urls })).toEqual(problems);
});
