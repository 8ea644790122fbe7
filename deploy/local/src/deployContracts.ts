import { readFileSync } from "node:fs";
import { join } from "node:path";
import { REPOSITORY } from "./config";
import type { AnvilPart } from "./parts/anvil";
import { PartError } from "./parts/partError";
import { runCommand } from "./process/runCommand";
import type { Secrets } from "./secrets";

export interface DeployedContracts {
  tokenAddress: string;
  paymentManagerAddress: string;
}

const SCRIPTS = join(REPOSITORY, "contracts/bin");

/** Equal to the allowance: benchmarks on a laptop mint more in an hour than a usual daily cap. */
const MINT_CAP_PER_DAY_WON = "1000000000000";

/** Tokens that the sandbox's faucet has on a new chain, outside of the ledger. */
const FAUCET_WON = "1000000000";

/** Gas money on a chain where gas is free for the asking: 1,000 coins. */
const PLENTY_WEI = "0x3635c9adc5dea00000";

/** Deploys missing contracts with this stack's keys, and funds the operator's gas. */
export async function deployContracts(
  { rpcUrl }: Pick<AnvilPart, "rpcUrl">,
  { deployerKeyFile, adminKeyFile, operatorKeyFile, faucetKeyFile, contractsFile }: Secrets,
): Promise<DeployedContracts> {
  for (const keyFile of [deployerKeyFile, operatorKeyFile, adminKeyFile]) {
    const address = (await runScript("key.mjs", [keyFile])).trim();
    await fund(rpcUrl, address);
  }
  await runScript("deploy.mjs", [
    ...["--rpc", rpcUrl],
    ...["--key-file", deployerKeyFile],
    ...["--admin-key-file", adminKeyFile],
    ...["--operator-key-file", operatorKeyFile],
    ...["--mint-cap-per-day-won", MINT_CAP_PER_DAY_WON],
    ...["--out", contractsFile],
  ]);
  await runScript("fillFaucet.mjs", [
    ...["--rpc", rpcUrl, "--deployment", contractsFile],
    ...["--admin-key-file", adminKeyFile, "--faucet-key-file", faucetKeyFile, "--won", FAUCET_WON],
  ]);
  const { contracts } = JSON.parse(readFileSync(contractsFile, "utf8")) as {
    contracts: { WonToken: string; PaymentManager: string };
  };
  return { tokenAddress: contracts.WonToken, paymentManagerAddress: contracts.PaymentManager };
}

async function runScript(name: string, args: string[]): Promise<string> {
  const { ok, stdout, problem } = await runCommand(process.execPath, [join(SCRIPTS, name), ...args]);
  if (ok) return stdout;
  throw new PartError(
    "The contracts could not be deployed",
    problem,
    "read logs/anvil.log; `make reset` starts a new chain.",
  );
}

async function fund(rpcUrl: string, address: string): Promise<void> {
  const body = JSON.stringify({
    jsonrpc: "2.0",
    id: 1,
    method: "anvil_setBalance",
    params: [address, PLENTY_WEI],
  });
  await fetch(rpcUrl, { method: "POST", headers: { "content-type": "application/json" }, body });
}
