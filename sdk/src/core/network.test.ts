import { ServiceClient } from "../client.ts";
import { createNetwork, defaultNetwork, explorerLinks, NetworkType } from "./network.ts";

test("the default network is the test network with six decimals", () => {
  expect(defaultNetwork).toMatchObject({
    type: NetworkType.WON_TESTNET,
    chainId: 31337,
    token: { decimals: 6 },
  });
});

test("createNetwork replaces only the given values", () => {
  const network = createNetwork({ rpcUrl: "http://node:8545", token: { address: "0xabc" } });
  expect(network).toEqual({
    ...defaultNetwork,
    rpcUrl: "http://node:8545",
    token: { ...defaultNetwork.token, address: "0xabc" },
  });
});

test("an undefined value keeps the value of the preset", () => {
  const explorerUrl = process.env["NOT_SET"];
  expect(createNetwork({ explorerUrl, type: undefined, token: { symbol: undefined } })).toEqual(
    defaultNetwork,
  );
  expect(createNetwork({ token: undefined })).toEqual(defaultNetwork);
  const client = new ServiceClient({
    baseUrl: "https://service",
    apiKey: "wk_test_1",
    network: { explorerUrl },
  });
  expect(client.explorer.transaction("0x12")).toMatch(/^http.*\/tx\/0x12$/);
});

test("explorer links name transactions, addresses and blocks", () => {
  const links = explorerLinks({ explorerUrl: "https://scan.example/" });
  expect(links.transaction("0x12")).toBe("https://scan.example/tx/0x12");
  expect(links.address("0xab")).toBe("https://scan.example/address/0xab");
  expect(links.block(7n)).toBe("https://scan.example/block/7");
  expect(links.address("../x?y")).toBe("https://scan.example/address/..%2Fx%3Fy");
});
