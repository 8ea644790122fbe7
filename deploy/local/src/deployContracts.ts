import { existsSync } from "node:fs";
import { join } from "node:path";
import { REPOSITORY } from "./config";
import type { AnvilPart } from "./parts/anvil";
import { PartError } from "./parts/partError";
import { runCommand } from "./process/runCommand";
import type { Secrets } from "./secrets";

export interface DeployedContracts {
  tokenAddress?: string;
  paymentManagerAddress?: string;
}

const SCRIPT = join(REPOSITORY, "contracts/bin/deploy.mjs");

/** The contracts workspace's own script, which deploys what is not there yet and prints the addresses as JSON. */
export async function deployContracts(
  { rpcUrl, chainId }: AnvilPart,
  { mnemonicFile }: Secrets,
): Promise<DeployedContracts> {
  if (!existsSync(SCRIPT)) return {};
  const env = { CHAIN_RPC_URL: rpcUrl, CHAIN_ID: String(chainId), DEPLOYER_MNEMONIC_FILE: mnemonicFile };
  const { ok, stdout, problem } = await runCommand(process.execPath, [SCRIPT, "--json"], { env });
  if (!ok)
    throw new PartError(
      "The contracts could not be deployed",
      problem,
      "read logs/anvil.log; `make reset` starts a new chain.",
    );
  return JSON.parse(stdout) as DeployedContracts;
}
