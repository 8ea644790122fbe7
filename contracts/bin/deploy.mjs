#!/usr/bin/env node
// Deploys the contracts. A second run finds them and sends nothing.
import { existsSync, renameSync, writeFileSync } from "node:fs";
import { ethers } from "ethers";
import {
  UsageError,
  connect,
  readAddress,
  readDeployment,
  readKey,
  readOptions,
  readWhole,
  run,
} from "../tools/chain.mjs";
import { deploy } from "../tools/deployment.mjs";

const people = ["admin", "operator", "pauser", "blocklister"];
const usage = `Usage: node bin/deploy.mjs --rpc URL --key-file FILE --out FILE --admin ADDRESS --operator ADDRESS

  --rpc URL                  the node
  --key-file FILE            the deployer's key in hex; it pays for two transactions and gets no role
  --out FILE                 where the addresses are recorded, and looked for first
  --admin ADDRESS            may grant roles and set mint allowances (for each of the four: or --admin-key-file FILE)
  --operator ADDRESS         may send batches to the payment manager: the relayer
  --pauser ADDRESS           may pause the token (the admin unless given)
  --blocklister ADDRESS      may block accounts (the admin unless given)
  --admin-delay-seconds N    how long a change of the admin takes at the least (86400 unless given)
  --mint-allowance-won N     how much the payment manager may mint before the admin allows more (10^12 unless given)
  --mint-cap-per-day-won N   how much all minters together may mint in any 24 hours (10^11 unless given)
  --confirmations N          blocks to wait for (1 unless given)`;

await run(async () => {
  const limits = ["admin-delay-seconds", "mint-allowance-won", "mint-cap-per-day-won", "confirmations"];
  const { values, required } = readOptions(usage, [
    ...["rpc", "key-file", "out"],
    ...limits,
    ...people,
    ...people.map((name) => `${name}-key-file`),
  ]);
  const [rpc, keyFile, out] = ["rpc", "key-file", "out"].map(required);
  const accounts = readAccounts(values);
  const confirmations = Number(whole(values, "confirmations", "1"));
  if (confirmations === 0)
    throw new UsageError("--confirmations must be at least 1: a deployment needs a block.");
  const provider = await connect(rpc);
  try {
    const { deployment, created } = await deploy({
      provider,
      key: readKey(keyFile),
      accounts,
      adminDelaySeconds: whole(values, "admin-delay-seconds", "86400"),
      mintAllowanceWon: whole(values, "mint-allowance-won", "1000000000000"),
      mintCapPerDayWon: whole(values, "mint-cap-per-day-won", "100000000000"),
      confirmations,
      record: (plan) => record(out, plan),
      recorded: existsSync(out) ? readDeployment(out) : undefined,
    });
    console.log(`${created ? "deployed" : "unchanged"} on chain ${deployment.chainId}`);
    for (const [name, address] of Object.entries(deployment.contracts)) console.log(`  ${name} ${address}`);
    console.log(
      `  from block ${deployment.blockNumber}, which is chain-relayer's START_BLOCK (chain.startBlock)`,
    );
  } finally {
    provider.destroy();
  }
});

function readAccounts(values) {
  const accounts = {};
  for (const name of people) {
    const file = values[`${name}-key-file`];
    const given = file ? ethers.computeAddress(readKey(file)) : values[name];
    if (given === undefined && ["admin", "operator"].includes(name))
      throw new UsageError(`--${name} is missing.\n\n${usage}`);
    accounts[name] = given === undefined ? accounts.admin : readAddress(given, `--${name}`);
  }
  if (accounts.admin === accounts.operator)
    throw new UsageError("The admin and the operator must be two accounts.");
  return accounts;
}

function whole(values, name, otherwise) {
  return readWhole(values[name] ?? otherwise, `--${name}`);
}

function record(path, deployment) {
  writeFileSync(`${path}.new`, JSON.stringify(deployment, null, 2) + "\n");
  renameSync(`${path}.new`, path);
}
