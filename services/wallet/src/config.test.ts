import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { configProblems } from "@wonrail/kit/testing";
import { readConfig } from "./config";

let folder: string;
let path: string;
beforeAll(() => {
  folder = mkdtempSync(join(tmpdir(), "wallet-config-"));
  path = join(folder, "kek.json");
});
afterAll(() => rmSync(folder, { recursive: true }));

function problems(more: Record<string, string> = {}): string[] {
  const env = {
    ...{
      DATABASE_URL: "postgres://own/db",
      BUS: "feed",
      GRPC_HOST: "127.0.0.1",
      GRPC_PORT: "0",
      OPS_PORT: "0",
    },
    ...{ LEDGER_ADDRESS: "ledger:1", CHAIN_ID: "31337", TOKEN_ADDRESS: `0x${"11".repeat(20)}` },
    KEK_PATH: path,
    ...more,
  };
  return configProblems((exit) => readConfig(env, exit));
}

test("an absent or wrong key file is a problem of KEK_PATH", () => {
  expect(problems()).toEqual([
    `  - KEK_PATH: the file of key-encryption keys, ${path}, cannot be read: ENOENT`,
  ]);
  writeFileSync(path, "{");
  expect(problems()).toEqual(["  - KEK_PATH: the file of key-encryption keys is not JSON"]);
  writeFileSync(path, `{"current": "k1", "keys": {"k1": "${Buffer.alloc(31).toString("base64")}"}}`);
  expect(problems()).toEqual(["  - KEK_PATH: the key-encryption key k1 is not 32 bytes"]);
  writeFileSync(path, `{"current": "k1", "keys": {"k1": "${Buffer.alloc(32).toString("base64")}"}}`);
  expect(problems()).toEqual([]);
});

test("chain number 0 is refused, because an absent number reads as 0", () => {
  expect(problems({ CHAIN_ID: "0" })).toContain("  - CHAIN_ID: Too small: expected number to be >=1");
});
