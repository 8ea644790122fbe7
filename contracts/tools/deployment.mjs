// Puts the token and the manager on a chain, in two transactions. Every role is given by a constructor, so there is no
// moment in which the deployer could do anything, and no transaction that needs the admin's key.
import { ethers } from "ethers";
import { UsageError, artifact } from "./chain.mjs";
import { codeState, roleTable, verifyDeployment } from "./verification.mjs";

const BLOCK_WAIT_MS = 600_000;

/**
 * The deployment that `recorded` describes, if it stands on this chain; a new one if there is none or its chain was
 * made anew. Answers { deployment, created }.
 */
export async function deploy({
  provider,
  key,
  accounts,
  adminDelaySeconds,
  mintAllowanceWon,
  recorded,
  confirmations,
}) {
  const chainId = Number((await provider.getNetwork()).chainId);
  if (recorded && (await stands(provider, chainId, accounts, recorded)))
    return { deployment: recorded, created: false };

  const wallet = new ethers.Wallet(key, provider);
  const nonce = await provider.getTransactionCount(wallet.address, "pending");
  const planned = { from: wallet.address, nonce };
  const contracts = {
    WonToken: ethers.getCreateAddress(planned),
    PaymentManager: ethers.getCreateAddress({ ...planned, nonce: nonce + 1 }),
  };
  const holder = (contract, role) => holderOf(contract, role, { ...accounts, ...contracts });
  const tokenRoles = {
    admin: holder("WonToken", "DEFAULT_ADMIN_ROLE"),
    adminDelaySeconds,
    minter: holder("WonToken", "MINTER_ROLE"),
    mintAllowance: BigInt(mintAllowanceWon) * 1_000_000n,
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

  // Both are on their way before the first is awaited: on a chain with slow blocks that is one block, not two.
  const sent = [
    await create(wallet, "WonToken", [tokenRoles], nonce),
    await create(wallet, "PaymentManager", managerArguments, nonce + 1),
  ];
  const [first] = await Promise.all(
    sent.map((transaction) => transaction.wait(confirmations, BLOCK_WAIT_MS)),
  );
  const deployment = {
    chainId,
    contracts,
    accounts,
    deployer: wallet.address,
    blockNumber: first.blockNumber,
  };
  const problems = await verifyDeployment(provider, deployment);
  if (problems.length > 0) throw new Error(`The deployment is not as planned:\n${problems.join("\n")}`);
  return { deployment, created: true };
}

async function stands(provider, chainId, accounts, recorded) {
  if (recorded.chainId !== chainId) {
    throw new UsageError(
      `The deployment's file is of chain ${recorded.chainId}, and this is chain ${chainId}. Give another --out.`,
    );
  }
  const states = await Promise.all(
    Object.entries(recorded.contracts).map(([name, address]) => codeState(provider, name, address)),
  );
  if (states.every((state) => state === "absent")) return false;
  if (states.some((state) => state !== "ours")) {
    throw new UsageError(
      "The recorded addresses hold other code than the committed artifacts: a change of the contracts needs a new deployment, and money would stay behind in the old one. Give another --out to make one.",
    );
  }
  for (const [name, address] of Object.entries(accounts)) {
    if (recorded.accounts[name] !== address) {
      throw new UsageError(
        `The ${name} of this deployment is ${recorded.accounts[name]}, not ${address}. Roles are changed by the admin, not by deploying.`,
      );
    }
  }
  return true;
}

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
