import { configProblems } from "@wonrail/kit/testing";
import { readConfig } from "./config";

const ADDRESSES = ["AUTH", "WALLET", "LEDGER", "PAYMENT", "RELAYER", "EVENTS"];
const SOUND = {
  ...Object.fromEntries(ADDRESSES.map((name) => [`${name}_ADDRESS`, "127.0.0.1:7000"])),
  HTTP_PORT: "0",
  OPS_PORT: "0",
  DATABASE_URL: "postgres://own/db",
  PUBLIC_URL: "https://console.example.com",
};

test.each<[Record<string, string>, string[]]>([
  [{}, []],
  [{ PUBLIC_URL: "http://127.0.0.1:8090" }, []],
  [{ PUBLIC_URL: "http://localhost:8090" }, []],
  [
    { PUBLIC_URL: "http://console.example.com" },
    ["PUBLIC_URL: must be https, because cookies and codes would be readable on the network"],
  ],
  [
    { PUBLIC_URL: "http://127.0.0.1.example.com" },
    ["PUBLIC_URL: must be https, because cookies and codes would be readable on the network"],
  ],
  [{ PUBLIC_URL: "https://example.com/console" }, ["PUBLIC_URL: must have no path"]],
  [
    { OIDC_ISSUER: "http://login.example.com", OIDC_CLIENT_ID: "console" },
    ["OIDC_ISSUER: must be https, because cookies and codes would be readable on the network"],
  ],
  [{ OIDC_ISSUER: "https://login.example.com" }, ["OIDC_CLIENT_ID is not set: OIDC_ISSUER is"]],
])("with %j the console reports %j", (env, problems) => {
  const found = configProblems((exit) => readConfig({ ...SOUND, ...env }, exit));
  expect(found).toEqual(problems.map((problem) => `  - ${problem}`));
});
