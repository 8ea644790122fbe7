import { z } from "zod";
import { loadConfig } from "../config";
import { networkSetting } from "./networks";

const schema = z.object({ NETWORK: networkSetting });
const refuse = (message: string): never => {
  throw new Error(message);
};

test("a service runs on the test network by default", () => {
  expect(loadConfig(schema, {}, [], refuse)).toEqual({ NETWORK: "WON_TESTNET" });
  expect(loadConfig(schema, { NETWORK: "WON_MAINNET" }, [], refuse)).toEqual({ NETWORK: "WON_MAINNET" });
});

test.each(["BASE_SEPOLIA", "won_mainnet", "MAINNET"])("a service does not start on %s", (NETWORK) => {
  expect(() => loadConfig(schema, { NETWORK }, [], refuse)).toThrow(
    "NETWORK: must be WON_TESTNET or WON_MAINNET, as partners name it",
  );
});
