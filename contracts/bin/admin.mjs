#!/usr/bin/env node
// Commands for the holders of the roles. Each command is one transaction, signed with the holder's key.
import { ethers } from "ethers";
import {
  UsageError,
  artifact,
  connect,
  readAddress,
  readDeployment,
  readKey,
  readOptions,
  readWhole,
  receiptOf,
  run,
} from "../tools/chain.mjs";
import { verifyContracts } from "../tools/verification.mjs";

const usage = `Usage: node bin/admin.mjs COMMAND --rpc URL --deployment FILE --key-file FILE

  pause | unpause                 stop, or let on, every change of a balance (pauser)
  block | unblock ADDRESS         (blocklister)
  allow-mint WON                  set what the payment manager may still mint (admin)
  cap-mint WON                    set what all minters together may mint in any 24 hours (admin)
  grant-operator | revoke-operator ADDRESS   (admin)`;

/** The transaction of each command, and the event that proves a change: revoking an absent role emits none. */
const commands = {
  pause: { says: "Paused", send: ({ token }) => token.pause() },
  unpause: { says: "Unpaused", send: ({ token }) => token.unpause() },
  block: {
    says: "AccountBlockSet",
    send: ({ token }, address) => token.setBlocked(readAddress(address, "the account"), true),
  },
  unblock: {
    says: "AccountBlockSet",
    send: ({ token }, address) => token.setBlocked(readAddress(address, "the account"), false),
  },
  "allow-mint": {
    says: "MintAllowanceSet",
    send: ({ token, manager }, won) =>
      token.setMintAllowance(manager.target, readWhole(won, "what may be minted, in won,") * 1_000_000n),
  },
  "cap-mint": {
    says: "MintCapPerDaySet",
    send: ({ token }, won) =>
      token.setMintCapPerDay(readWhole(won, "the mint cap per day, in won,") * 1_000_000n),
  },
  "grant-operator": {
    says: "RoleGranted",
    send: ({ manager }, address) => manager.grantRole(operatorRole, readAddress(address, "the operator")),
  },
  "revoke-operator": {
    says: "RoleRevoked",
    send: ({ manager }, address) => manager.revokeRole(operatorRole, readAddress(address, "the operator")),
  },
};
const operatorRole = ethers.id("OPERATOR_ROLE");

await run(async () => {
  const options = readOptions(usage, ["rpc", "deployment", "key-file"], { positionals: true });
  const [name, ...args] = options.positionals;
  const command = commands[name];
  if (!command || args.length !== command.send.length - 1) throw new UsageError(usage);
  const deployment = readDeployment(options.required("deployment"));
  const provider = await connect(options.required("rpc"));
  try {
    const problems = await verifyContracts(provider, deployment);
    if (problems.length > 0) throw new UsageError(`Nothing was sent.\n${problems.join("\n")}`);
    const wallet = new ethers.Wallet(readKey(options.required("key-file")), provider);
    const at = (contract) =>
      new ethers.Contract(deployment.contracts[contract], artifact(contract).abi, wallet);
    const ours = { token: at("WonToken"), manager: at("PaymentManager") };
    const { hash } = await command.send(ours, ...args);
    // Printed before the wait, so that an operator can look up a transaction whose block is late.
    console.log(`${name}: ${hash} is sent`);
    const { blockNumber, logs } = await receiptOf(provider, hash);
    const events = logs.map((log) =>
      Object.values(ours)
        .find(({ target }) => target === log.address)
        ?.interface.parseLog(log),
    );
    if (!events.some((event) => event?.name === command.says))
      throw new UsageError(
        `${name} changed nothing: the contract had this state already, or the address is wrong (${hash}).`,
      );
    console.log(`${name}: ${hash} in block ${blockNumber}`);
  } finally {
    provider.destroy();
  }
});
