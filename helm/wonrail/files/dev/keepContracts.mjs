// For laptops only: keeps the contracts deployed on a development chain, and the operator able to pay for gas. Runs in the relayer's image.
// The deployer's phrase is the one that every such node starts with, so on a new chain the contracts' addresses are always the same two.
import { spawnSync } from "node:child_process";
import { existsSync, writeFileSync } from "node:fs";
import { createRequire } from "node:module";
import { setTimeout as sleep } from "node:timers/promises";

const { ethers } = createRequire("/app/contracts/package.json")("ethers");
const { RPC_URL: rpc, OPERATOR_KEY_FILE: operatorKeyFile } = process.env;
const PHRASE = "test test test test test test test test test test test junk";
const LOOK_EVERY_MS = 2_000;
const PLENTY_WEI = "0x3635c9adc5dea00000";
const [deployer, admin] = [0, 2].map((index) =>
  ethers.HDNodeWallet.fromPhrase(PHRASE, undefined, `m/44'/60'/0'/0/${index}`),
);
const token = ethers.getCreateAddress({ from: deployer.address, nonce: 0 });

async function call(method, ...params) {
  const body = JSON.stringify({ jsonrpc: "2.0", id: 1, method, params });
  const headers = { "content-type": "application/json" };
  const response = await fetch(rpc, { method: "POST", headers, body, signal: AbortSignal.timeout(5_000) });
  const { result, error } = await response.json();
  if (error) throw new Error(error.message);
  return result;
}

function run(script, ...args) {
  const { status, stdout } = spawnSync(process.execPath, [`/app/contracts/bin/${script}`, ...args], {
    stdio: ["ignore", "pipe", "inherit"],
    encoding: "utf8",
  });
  if (status !== 0) throw new Error(`${script} ended with ${status}`);
  return stdout.trim();
}

async function ensureContracts() {
  if ((await call("eth_getCode", token, "latest")) !== "0x") return;
  const keyFile = "/tmp/deployer.key";
  if (!existsSync(keyFile)) writeFileSync(keyFile, deployer.privateKey, { mode: 0o600 });
  await call("anvil_setBalance", run("key.mjs", operatorKeyFile), PLENTY_WEI);
  const people = ["--admin", admin.address, "--operator-key-file", operatorKeyFile];
  console.log(
    run("deploy.mjs", "--rpc", rpc, "--key-file", keyFile, "--out", "/tmp/contracts.json", ...people),
  );
}

process.once("SIGTERM", () => process.exit(0));
for (;;) {
  await ensureContracts().catch((error) => console.error(error.message));
  await sleep(LOOK_EVERY_MS);
}
