import { createHmac, randomBytes } from "node:crypto";
import { join } from "node:path";
import type { Home } from "./home";
import { readText, writePrivate } from "./privateFile";

export interface Secrets {
  /** The same password for the same purpose at every start. */
  password(purpose: string): string;
  /** The file with the wallet service's key-encryption key. */
  kekFile: string;
  /** The file with the key-encryption key of webhooks' secrets. */
  webhookKekFile: string;
  /** The words behind the local chain's funded accounts, drawn at the first start. */
  mnemonic(draw: () => Promise<string>): Promise<string>;
  mnemonicFile: string;
  /**
   * Keys of the local chain: the deployer (not secret), the admin of roles, and the sender of
   * batches.
   */
  deployerKeyFile: string;
  adminKeyFile: string;
  operatorKeyFile: string;
  /** The key whose tokens the sandbox gives away. */
  faucetKeyFile: string;
  /** The file of the contracts' addresses; kept with the chain that they are on. */
  contractsFile: string;
}

/**
 * The first key of every development node: public, and without any right after the deployment.
 * Because it deploys on every new test network, the contracts' addresses are always the same, and
 * the SDK knows them.
 */
const PUBLIC_KEY = "0xac0974bec39a17e36ba4a6b4d238ff944bacb478cbed5efcae784d7bf4f2ff80";

/** All secrets of a stack, created at its first start and stored only in its home. */
export function openSecrets({ secretsDir }: Home): Secrets {
  const root = keep(join(secretsDir, "root"), randomBytes(32).toString("hex"));
  const kekFile = join(secretsDir, "kek.json");
  const mnemonicFile = join(secretsDir, "mnemonic");
  keep(kekFile, newKek());
  const webhookKekFile = join(secretsDir, "webhook-kek.json");
  keep(webhookKekFile, newKek());
  const keyFile = (name: string, key = `0x${randomBytes(32).toString("hex")}`): string => {
    const file = join(secretsDir, name);
    keep(file, key);
    return file;
  };
  return {
    deployerKeyFile: keyFile("deployer.key", PUBLIC_KEY),
    adminKeyFile: keyFile("admin.key"),
    operatorKeyFile: keyFile("operator.key"),
    faucetKeyFile: keyFile("faucet.key"),
    contractsFile: join(secretsDir, "contracts.json"),
    password: (purpose) => createHmac("sha256", root).update(purpose).digest("base64url"),
    kekFile,
    webhookKekFile,
    mnemonic: async (draw) => {
      const known = readText(mnemonicFile)?.trim();
      return known ?? keep(mnemonicFile, await draw());
    },
    mnemonicFile,
  };
}

function newKek(): string {
  return JSON.stringify({ current: "local", keys: { local: randomBytes(32).toString("base64") } });
}

/** The existing secret, or a new one. */
function keep(file: string, made: string): string {
  const known = readText(file)?.trim();
  if (known !== undefined) return known;
  writePrivate(file, `${made}\n`);
  return made;
}
