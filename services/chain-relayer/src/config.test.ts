import { configProblems } from "@wonrail/kit/testing";
import { readConfig } from "./config";

const SOUND = {
  ...{
    DATABASE_URL: "postgres://own/db",
    BUS: "feed",
    GRPC_HOST: "127.0.0.1",
    GRPC_PORT: "0",
    OPS_PORT: "0",
  },
  ...{ AUTH_ADDRESS: "auth:1", WALLET_ADDRESS: "wallet:1", LEDGER_ADDRESS: "ledger:1" },
  ...{ PAYMENT_ADDRESS: "payment:1", CHAIN_ID: "31337", NETWORK: "WON_TESTNET" },
  ...{ TOKEN_ADDRESS: `0x${"11".repeat(20)}`, PAYMENT_MANAGER_ADDRESS: `0x${"22".repeat(20)}` },
  ...{ OPERATOR_KEY: `0x${"33".repeat(32)}`, CHAIN_RPC_URLS: "https://rpc-a.example" },
};

function problemsOf(env: Record<string, string>): string[] {
  return configProblems((exit) => readConfig({ ...SOUND, ...env }, exit));
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

test.each([
  ["0x" + "00".repeat(32), ["  - OPERATOR_KEY: is no private key of secp256k1"]],
  ["0x" + "ff".repeat(32), ["  - OPERATOR_KEY: is no private key of secp256k1"]],
  ["0x01", ["  - OPERATOR_KEY: is not a private key of 0x and 64 hex digits"]],
  [`0x${"00".repeat(31)}01`, []],
])("the operator's key %s", (key, problems) => {
  expect(problemsOf({ OPERATOR_KEY: key })).toEqual(problems);
});

test.each([
  ["WON_TESTNET", []],
  ["WON_MAINNET", ["  - FAUCET_KEY: must not be set on WON_MAINNET"]],
])("a faucet's key on %s", (network, problems) => {
  expect(problemsOf({ FAUCET_KEY: `0x${"44".repeat(32)}`, NETWORK: network })).toEqual(problems);
});

test("chain number 0 is refused, because an absent number reads as 0", () => {
  expect(problemsOf({ CHAIN_ID: "0" })).toEqual(["  - CHAIN_ID: Too small: expected number to be >=1"]);
});

test.each(["MAX_IN_FLIGHT", "MAX_STEPS", "CHAIN_RPC_TIMEOUT_MS", "LEASE_MS"])(
  "with 0 for %s nothing would ever be settled",
  (name) => {
    expect(problemsOf({ [name]: "0" })).toEqual([`  - ${name}: Too small: expected number to be >=1`]);
  },
);

test.each([
  ["0", "WON_MAINNET", ["  - FINALITY: must not be 0 on WON_MAINNET"]],
  ["00", "WON_MAINNET", ["  - FINALITY: must not be 0 on WON_MAINNET"]],
  ["1", "WON_MAINNET", []],
  ["finalized", "WON_MAINNET", []],
  ["", "WON_MAINNET", []],
  ["0", "WON_TESTNET", []],
])("FINALITY %j on %s", (finality, network, problems) => {
  expect(problemsOf({ FINALITY: finality, NETWORK: network })).toEqual(problems);
});
