import { type ChildProcess, spawn } from "node:child_process";
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { createInterface } from "node:readline";
import { ethers } from "ethers";

const home = join(__dirname, "../..");

export interface Deployment {
  chainId: number;
  contracts: { WonToken: string; PaymentManager: string };
  accounts: { admin: string; operator: string; pauser: string; blocklister: string };
  deployer: string;
  nonce: number;
  blockNumber: number;
}

export interface Outcome {
  code: number | null;
  stdout: string;
  stderr: string;
}

export type Person = "deployer" | "admin" | "operator" | "pauser" | "blocklister";
export const people: Person[] = ["deployer", "admin", "operator", "pauser", "blocklister"];

/** A temporary node, a folder with all key files, funded accounts, and the commands of bin/. */
export class TestChain {
  readonly dir = mkdtempSync(join(tmpdir(), "wonrail-contracts-"));
  readonly out = join(this.dir, "deployment.json");

  private constructor(
    readonly url: string,
    readonly provider: ethers.JsonRpcProvider,
    private readonly node: ChildProcess,
  ) {}

  static async start(): Promise<TestChain> {
    const node = spawn(process.execPath, [join(home, "bin/anvil.mjs")], {
      stdio: ["pipe", "pipe", "inherit"],
    });
    const url = await new Promise<string>((resolve, reject) => {
      createInterface({ input: node.stdout }).once("line", resolve);
      node.once("exit", (code) => reject(new Error(`the node ended with ${code}`)));
    });
    const network = ethers.Network.from(31_337);
    const options = { staticNetwork: network, cacheTimeout: -1, batchMaxCount: 1, pollingInterval: 20 };
    const chain = new TestChain(url, new ethers.JsonRpcProvider(url, network, options), node);
    for (const name of people) writeFileSync(chain.keyFile(name), `${ethers.id(name)}\n`, { mode: 0o600 });
    await chain.fund();
    return chain;
  }

  async fund(): Promise<void> {
    for (const name of people)
      await this.provider.send("anvil_setBalance", [this.address(name), "0x8ac7230489e80000"]);
  }

  async stop(): Promise<void> {
    this.provider.destroy();
    this.node.stdin?.end();
    await new Promise((resolve) => this.node.once("exit", resolve));
    rmSync(this.dir, { recursive: true });
  }

  keyFile(name: Person): string {
    return join(this.dir, `${name}.key`);
  }

  wallet(name: Person): ethers.Wallet {
    return new ethers.Wallet(ethers.id(name), this.provider);
  }

  address(name: Person): string {
    return this.wallet(name).address;
  }

  /** Runs bin/deploy.mjs as an operator would; `changes` replace options, undefined leaves one out. */
  deploy(changes: Record<string, string | undefined> = {}): Promise<Outcome> {
    const options: Record<string, string | undefined> = {
      rpc: this.url,
      "key-file": this.keyFile("deployer"),
      out: this.out,
      "admin-delay-seconds": "60",
      ...changes,
    };
    for (const name of people.slice(1)) {
      if (!(name in changes) && !(`${name}-key-file` in changes))
        options[`${name}-key-file`] = this.keyFile(name);
    }
    return this.run("deploy.mjs", options);
  }

  verify(): Promise<Outcome> {
    return this.run("verify.mjs", { rpc: this.url, deployment: this.out });
  }

  run(script: string, options: Record<string, string | undefined>, words: string[] = []): Promise<Outcome> {
    const args = Object.entries(options).flatMap(([name, value]) =>
      value === undefined ? [] : [`--${name}`, value],
    );
    const child = spawn(process.execPath, [join(home, "bin", script), ...words, ...args]);
    const outcome: Outcome = { code: null, stdout: "", stderr: "" };
    child.stdout.setEncoding("utf8").on("data", (text: string) => (outcome.stdout += text));
    child.stderr.setEncoding("utf8").on("data", (text: string) => (outcome.stderr += text));
    return new Promise((resolve, reject) => {
      child.once("error", reject);
      child.once("close", (code) => resolve({ ...outcome, code }));
    });
  }

  deployment(): Deployment {
    return JSON.parse(readFileSync(this.out, "utf8")) as Deployment;
  }

  contract(
    name: "WonToken" | "PaymentManager",
    runner: ethers.ContractRunner = this.provider,
  ): ethers.Contract {
    return new ethers.Contract(this.deployment().contracts[name], abiOf(name), runner);
  }
}

/** Sends a transaction and waits until it is in a block. */
export async function send(
  contract: ethers.Contract,
  name: string,
  ...args: unknown[]
): Promise<ethers.ContractTransactionReceipt> {
  const transaction = await contract.getFunction(name).send(...args);
  const receipt = await transaction.wait();
  if (!receipt) throw new Error(`${name} is in no block`);
  return receipt;
}

export function abiOf(name: string): ethers.InterfaceAbi {
  return (readJson(`artifacts/${name}.json`) as { abi: ethers.InterfaceAbi }).abi;
}

export function readJson(path: string): unknown {
  return JSON.parse(readFileSync(join(home, path), "utf8"));
}
