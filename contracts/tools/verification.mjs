// Compares a deployment's file with the chain: the code, the link between the contracts, and the
// holders of roles.
import { readFileSync } from "node:fs";
import { join } from "node:path";
import { ethers } from "ethers";
import { artifact } from "./chain.mjs";
import { home } from "./foundry.mjs";

const BLOCKS_PER_QUERY = 10_000;

export function roleTable() {
  return JSON.parse(readFileSync(join(home, "roles.json"), "utf8"));
}

/**
 * "absent", "ours" or "other": compares the code at an address with an artifact, without
 * constructor values.
 */
export async function codeState(provider, name, address) {
  const found = await provider.getCode(address);
  if (found === "0x") return "absent";
  const { deployedBytecode, immutableBytes } = artifact(name);
  return blank(found, immutableBytes) === blank(deployedBytecode, immutableBytes) ? "ours" : "other";
}

function blank(code, ranges) {
  const bytes = ethers.getBytes(code);
  for (const { start, length } of ranges) bytes.fill(0, start, start + length);
  return ethers.hexlify(bytes);
}

/** Lists every difference between the chain and the deployment, one per line. */
export async function verifyDeployment(provider, deployment) {
  const problems = await verifyContracts(provider, deployment);
  if (problems.length > 0) return problems;
  for (const [name, roles] of Object.entries(roleTable())) {
    problems.push(...(await verifyRoles(provider, deployment, name, roles)));
    problems.push(...(await findHandOver(provider, deployment, name)));
  }
  return problems;
}

/**
 * Checks the chain, the code at the addresses and the link between the contracts. A handwritten
 * file may lack the chain.
 */
export async function verifyContracts(provider, deployment) {
  const problems = [];
  const chainId = Number((await provider.getNetwork()).chainId);
  if (deployment.chainId !== undefined && deployment.chainId !== chainId)
    return [`The deployment's file is of chain ${deployment.chainId}, and this is chain ${chainId}.`];
  for (const name of ["WonToken", "PaymentManager"]) {
    const address = deployment.contracts[name];
    const state = await codeState(provider, name, address);
    if (state !== "ours")
      problems.push(`${name} at ${address}: ${state === "absent" ? "no code" : "other code"}`);
  }
  if (problems.length > 0) return problems;

  const manager = new ethers.Contract(
    deployment.contracts.PaymentManager,
    artifact("PaymentManager").abi,
    provider,
  );
  const token = await manager.token();
  if (token !== deployment.contracts.WonToken)
    problems.push(`PaymentManager settles another token: ${token}`);
  return problems;
}

/** The limits that the admin sets, in whole won. */
export async function readMintLimits(provider, { contracts }) {
  const token = new ethers.Contract(contracts.WonToken, artifact("WonToken").abi, provider);
  const units = {
    capPerDay: await token.mintCapPerDay(),
    mintableToday: await token.mintableToday(),
    allowance: await token.mintAllowance(contracts.PaymentManager),
  };
  return Object.fromEntries(Object.entries(units).map(([name, value]) => [name, value / 1_000_000n]));
}

/**
 * A change of the admin is announced long before it takes effect, which leaves time to notice a
 * stolen key.
 */
async function findHandOver(provider, deployment, name) {
  const contract = new ethers.Contract(deployment.contracts[name], artifact(name).abi, provider);
  const [newAdmin, acceptableAt] = await contract.pendingDefaultAdmin();
  const [newDelay, delayFrom] = await contract.pendingDefaultAdminDelay();
  const at = (seconds) => new Date(Number(seconds) * 1000).toISOString();
  const problems = [];
  if (acceptableAt !== 0n)
    problems.push(`${name}: ${newAdmin} is to be the admin, and may say so from ${at(acceptableAt)}`);
  if (delayFrom > BigInt(Math.floor(Date.now() / 1000)))
    problems.push(
      `${name}: from ${at(delayFrom)} a change of the admin takes ${newDelay} seconds at the least`,
    );
  return problems;
}

async function verifyRoles(provider, deployment, name, roles) {
  const contract = new ethers.Contract(deployment.contracts[name], artifact(name).abi, provider);
  const holders = await readHolders(contract, provider, deployment.blockNumber);
  const people = { ...deployment.accounts, ...deployment.contracts };
  const problems = [];
  for (const [role, expected] of Object.entries(roles)) {
    const actual = holders.get(roleId(role)) ?? new Set();
    holders.delete(roleId(role));
    for (const who of expected) {
      if (!actual.delete(people[who]))
        problems.push(`${name}: ${who} (${people[who]}) does not hold ${role}`);
    }
    for (const address of actual) problems.push(`${name}: ${address} holds ${role} and should not`);
  }
  for (const [role, addresses] of holders) {
    for (const address of addresses)
      problems.push(`${name}: ${address} holds ${role}, a role that is not in roles.json`);
  }
  return problems;
}

export function roleId(name) {
  return name === "DEFAULT_ADMIN_ROLE" ? ethers.ZeroHash : ethers.id(name);
}

/**
 * Role → holders, from every grant and revocation, because `hasRole` only answers for expected
 * holders.
 */
async function readHolders(contract, provider, firstBlock) {
  const topics = [
    ["RoleGranted", "RoleRevoked"].map((event) => contract.interface.getEvent(event).topicHash),
  ];
  const head = await provider.getBlockNumber();
  const holders = new Map();
  for (let fromBlock = firstBlock; fromBlock <= head; fromBlock += BLOCKS_PER_QUERY) {
    const toBlock = Math.min(fromBlock + BLOCKS_PER_QUERY - 1, head);
    for (const log of await provider.getLogs({ address: contract.target, topics, fromBlock, toBlock })) {
      const { name, args } = contract.interface.parseLog(log);
      if (!holders.has(args.role)) holders.set(args.role, new Set());
      if (name === "RoleGranted") holders.get(args.role).add(args.account);
      else holders.get(args.role).delete(args.account);
    }
  }
  return holders;
}
