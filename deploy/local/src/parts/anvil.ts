import { existsSync, mkdirSync } from "node:fs";
import { createRequire } from "node:module";
import { dirname, join } from "node:path";
import { inheritedEnv } from "../config";
import type { ProcessSpec } from "../process/ownedProcess";
import { compactState } from "./compactState";
import { jsonRpc } from "./jsonRpc";
import { PartError } from "./partError";

export const CHAIN_ID = 31_337;
/**
 * Number of past blocks with a readable state. Without a limit the node writes all of them to the
 * user's home folder.
 */
export const STATES_KEPT = 64;
/**
 * Number of blocks with readable transactions, receipts and logs. Without a limit every block takes
 * longer to write than its predecessor: 28,000 operations were 168 MB. chain-relayer reads a block
 * seconds after it was mined.
 */
export const TRANSACTION_BLOCKS_KEPT = 128;
const NOBODY = `0x${"0".repeat(40)}`;

export interface AnvilOptions {
  dir: string;
  logFile: string;
  port: number;
  mnemonic: string;
}

export interface AnvilPart {
  spec: ProcessSpec;
  rpcUrl: string;
  chainId: number;
  stateFile: string;
}

/**
 * With one slot per epoch the block two before the newest is final. The block clock mines, not the
 * node itself.
 */
export function prepareAnvil({ dir, logFile, port, mnemonic }: AnvilOptions): AnvilPart {
  mkdirSync(dir, { recursive: true, mode: 0o700 });
  const rpcUrl = `http://127.0.0.1:${port}`;
  const stateFile = join(dir, "state.json");
  return {
    rpcUrl,
    chainId: CHAIN_ID,
    stateFile,
    spec: {
      name: "anvil",
      command: anvilBinary(),
      args: () => [
        ...["--host", "127.0.0.1", "--port", `${port}`, "--chain-id", `${CHAIN_ID}`, "--mnemonic", mnemonic],
        ...["--no-mining", "--slots-in-an-epoch", "1", "--prune-history", `${STATES_KEPT}`, "--quiet"],
        ...["--transaction-block-keeper", `${TRANSACTION_BLOCKS_KEPT}`],
        ...loadedState(stateFile),
      ],
      env: inheritedEnv(),
      cwd: dir,
      logFile,
      stopSignal: "SIGTERM",
      stopGraceMs: 10_000,
      readyTimeoutMs: 30_000,
      probe: () => probe(rpcUrl),
    },
  };
}

function loadedState(stateFile: string): string[] {
  if (!existsSync(stateFile)) return [];
  compactState(stateFile, TRANSACTION_BLOCKS_KEPT);
  return ["--load-state", stateFile];
}

/** The platform package's own binary, because a killed npm wrapper would leave the node running. */
export function anvilBinary(): string {
  const arch = process.arch === "x64" ? "amd64" : process.arch;
  try {
    const fromWrapper = createRequire(require.resolve("@foundry-rs/anvil/package.json"));
    const manifest = fromWrapper.resolve(`@foundry-rs/anvil-${process.platform}-${arch}/package.json`);
    return join(dirname(manifest), "bin", "anvil");
  } catch {
    throw new PartError(
      "The EVM node cannot be started",
      `npm has no anvil for ${process.platform}-${process.arch}, or optional packages were left out`,
      "run `npm ci` without --omit=optional.",
    );
  }
}

/**
 * Ready when the state at the final block can be read. A restarted node has the state of its newest block only, so
 * two blocks are mined here to make that block final.
 */
async function probe(rpcUrl: string): Promise<void> {
  const chainId = await jsonRpc<string>(rpcUrl, "eth_chainId");
  if (Number(chainId) !== CHAIN_ID) throw new Error(`the node at ${rpcUrl} answers for chain ${chainId}`);
  try {
    await jsonRpc(rpcUrl, "eth_getBalance", [NOBODY, "finalized"]);
  } catch (error) {
    await jsonRpc(rpcUrl, "evm_mine");
    throw error;
  }
}
