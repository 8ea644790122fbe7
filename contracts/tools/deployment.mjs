// Deploys the token and the manager in two transactions. Constructors grant every role, so the
// deployer never has a right, and no transaction needs the admin's key.
import { ethers } from "ethers";
import { BLOCK_WAIT_MS, UsageError, artifact } from "./chain.mjs";
import { codeState, roleTable, verifyDeployment } from "./verification.mjs";

/**
 * Returns the recorded deployment if this chain has it; otherwise deploys anew, also on a reset
 * chain. `record` gets the plan before a transaction is sent: after a crash the next run continues
 * it and does not deploy the token twice. Returns { deployment, created }.
 */
export async function deploy(options) {
  const { provider, key, accounts, recorded, confirmations, record = () => undefined } = options;
  const chainId = Number((await provider.getNetwork()).chainId);
  const found = recorded ? await lookAt(provider, chainId, accounts, recorded) : "nothing";
  if (found === "all") return { deployment: recorded, created: false };

  const wallet = new ethers.Wallet(key, provider);
  const plan = found === "token" ? recorded : await planOf(wallet, { chainId, accounts, recorded });
  if (found === "token") requireOwn(plan, wallet.address);
  record(plan);
  const creations = creationsOf(plan, options).slice(found === "token" ? 1 : 0);
  // Sends both before it awaits the first: on a chain with slow blocks that takes one block, not
  // two.
  const sent = [];
  for (const { name, args, nonce } of creations) sent.push(await create(wallet, name, args, nonce));
  await Promise.all(sent.map((transaction) => transaction.wait(confirmations, BLOCK_WAIT_MS)));
  const problems = await verifyDeployment(provider, plan);
  if (problems.length > 0) throw new Error(`The deployment is not as planned:\n${problems.join("\n")}`);
  return { deployment: plan, created: true };
}

/** The deployment before its transactions: the addresses follow from the deployer's nonce. */
async function planOf(wallet, { chainId, accounts, recorded }) {
  const { provider, address: deployer } = wallet;
  const nonce = await provider.getTransactionCount(deployer, "pending");
  if (recorded?.deployer === deployer && nonce > recorded.nonce) {
    throw new UsageError(
      "The recorded deployment is in no block yet. Run this again later. If it will never be mined, give another --out.",
    );
  }
  const planned = { from: deployer, nonce };
  const contracts = {
    WonToken: ethers.getCreateAddress(planned),
    PaymentManager: ethers.getCreateAddress({ ...planned, nonce: nonce + 1 }),
  };
  // The deployment cannot be in an earlier block.
  const blockNumber = (await provider.getBlockNumber()) + 1;
  return { chainId, contracts, accounts, deployer, nonce, blockNumber };
}

function creationsOf(
  { contracts, accounts, nonce },
  { adminDelaySeconds, mintAllowanceWon, mintCapPerDayWon },
) {
  const holder = (contract, role) => holderOf(contract, role, { ...accounts, ...contracts });
  const tokenRoles = {
    admin: holder("WonToken", "DEFAULT_ADMIN_ROLE"),
    adminDelaySeconds,
    minter: holder("WonToken", "MINTER_ROLE"),
    mintAllowance: BigInt(mintAllowanceWon) * 1_000_000n,
    mintCapPerDay: BigInt(mintCapPerDayWon) * 1_000_000n,
    burner: holder("WonToken", "BURNER_ROLE"),
    pauser: holder("WonToken", "PAUSER_ROLE"),
    blocklister: holder("WonToken", "BLOCKLISTER_ROLE"),
  };
  const managerArguments = [
    contracts.WonToken,
    holder("PaymentManager", "DEFAULT_ADMIN_ROLE"),
    adminDelaySeconds,
    holder("PaymentManager", "OPERATOR_ROLE"),
  ];
  return [
    { name: "WonToken", args: [tokenRoles], nonce },
    { name: "PaymentManager", args: managerArguments, nonce: nonce + 1 },
  ];
}

/** The part of the recorded deployment on this chain: "nothing", the "token" alone or "all". */
async function lookAt(provider, chainId, accounts, recorded) {
  if (recorded.chainId !== chainId) {
    throw new UsageError(
      `The deployment's file is of chain ${recorded.chainId}, and this is chain ${chainId}. Give another --out.`,
    );
  }
  const [token, manager] = await Promise.all(
    ["WonToken", "PaymentManager"].map((name) => codeState(provider, name, recorded.contracts[name])),
  );
  if (token === "absent" && manager === "absent") return "nothing";
  if (token !== "ours" || manager === "other") throw new UsageError(OTHER_CODE);
  for (const [name, address] of Object.entries(accounts)) {
    if (recorded.accounts[name] !== address) {
      throw new UsageError(
        `The ${name} of this deployment is ${recorded.accounts[name]}, not ${address}. The admin changes roles; this command does not.`,
      );
    }
  }
  return manager === "ours" ? "all" : "token";
}

function requireOwn({ deployer, nonce }, address) {
  if (deployer === address && nonce !== undefined) return;
  throw new UsageError(
    `The token is deployed and its payment manager is not. Only the account ${deployer}, which began, can continue.`,
  );
}

const OTHER_CODE =
  "The recorded addresses hold other code than the committed artifacts: a change of the contracts " +
  "needs a new deployment, and money would stay behind in the old one. Give another --out to make " +
  "one.";

function holderOf(contract, role, people) {
  const names = roleTable()[contract][role];
  if (names.length !== 1)
    throw new UsageError(`roles.json: a deployment gives ${contract} ${role} to exactly one holder.`);
  return people[names[0]];
}

async function create(wallet, name, args, nonce) {
  const { abi, bytecode } = artifact(name);
  const contract = await new ethers.ContractFactory(abi, bytecode, wallet).deploy(...args, { nonce });
  return contract.deploymentTransaction();
}
