#!/usr/bin/env node
// Gives the sandbox's faucet of a test chain tokens, if it has none. The admin takes the role of a
// minter for this mint only.
import { ethers } from "ethers";
import {
  artifact,
  connect,
  readDeployment,
  readKey,
  readOptions,
  readWhole,
  receiptOf,
  run,
} from "../tools/chain.mjs";

const usage = `Usage: node bin/fillFaucet.mjs --rpc URL --deployment FILE --admin-key-file FILE --faucet-key-file FILE --won WON`;

await run(async () => {
  const names = ["rpc", "deployment", "admin-key-file", "faucet-key-file", "won"];
  const { required } = readOptions(usage, names);
  const { contracts } = readDeployment(required("deployment"));
  const units = readWhole(required("won"), "the amount, in won,") * 1_000_000n;
  const faucet = ethers.computeAddress(readKey(required("faucet-key-file")));
  const provider = await connect(required("rpc"));
  try {
    const admin = new ethers.Wallet(readKey(required("admin-key-file")), provider);
    const token = new ethers.Contract(contracts.WonToken, artifact("WonToken").abi, admin);
    if ((await token.balanceOf(faucet)) > 0n) return console.log(`${faucet} has tokens`);
    const minter = ethers.id("MINTER_ROLE");
    // Sent together, so that a chain with slow blocks takes one block.
    const first = await provider.getTransactionCount(admin.address, "pending");
    const sent = [];
    for (const [name, ...args] of [
      ["grantRole", minter, admin.address],
      ["setMintAllowance", admin.address, units],
      ["mint", faucet, units],
      ["setMintAllowance", admin.address, 0n],
      ["revokeRole", minter, admin.address],
    ]) {
      const overrides = { nonce: first + sent.length, gasLimit: 200_000n };
      sent.push(await token[name](...args, overrides));
    }
    for (const { hash } of sent) await receiptOf(provider, hash);
    console.log(`${faucet} has ${units / 1_000_000n} won`);
  } finally {
    provider.destroy();
  }
});
