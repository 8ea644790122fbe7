import { createRequire } from "node:module";
import { dirname, join } from "node:path";
import { inheritedEnv } from "../config";
import type { ProcessSpec } from "../process/ownedProcess";
import { PartError } from "./partError";

export const CHAIN_ID = 31_337;

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
}

/**
 * A block every second, as on a real chain, so that "pending" is something one can see. With one slot an epoch the block before the
 * last but one is final, and the node's `finalized` tag means what it means elsewhere.
 */
export function prepareAnvil({ dir, logFile, port, mnemonic }: AnvilOptions): AnvilPart {
  const rpcUrl = `http://127.0.0.1:${port}`;
  return {
    rpcUrl,
    chainId: CHAIN_ID,
    spec: {
      name: "anvil",
      command: anvilBinary(),
      args: [
        ...["--host", "127.0.0.1", "--port", `${port}`, "--chain-id", `${CHAIN_ID}`, "--mnemonic", mnemonic],
        ...["--block-time", "1", "--slots-in-an-epoch", "1"],
        ...["--state", join(dir, "state.json"), "--state-interval", "5", "--preserve-historical-states"],
        "--quiet",
      ],
      env: inheritedEnv(),
      cwd: dir,
      logFile,
      stopSignal: "SIGTERM",
      stopGraceMs: 10_000,
      readyTimeoutMs: 30_000,
      probe: () => askChainId(rpcUrl),
    },
  };
}

/** The platform package's own binary: the npm wrapper would leave the node running when it is killed. */
export function anvilBinary(): string {
  const platform = process.platform === "win32" ? "win32" : process.platform;
  const arch = process.arch === "x64" ? "amd64" : process.arch;
  try {
    const fromWrapper = createRequire(require.resolve("@foundry-rs/anvil/package.json"));
    return join(
      dirname(fromWrapper.resolve(`@foundry-rs/anvil-${platform}-${arch}/package.json`)),
      "bin",
      "anvil",
    );
  } catch {
    throw new PartError(
      "The EVM node cannot be started",
      `npm has no anvil for ${process.platform}-${process.arch}, or optional packages were left out`,
      "run `npm ci` without --omit=optional.",
    );
  }
}

async function askChainId(rpcUrl: string): Promise<void> {
  const response = await fetch(rpcUrl, {
    method: "POST",
    headers: { "content-type": "application/json" },
    body: JSON.stringify({ jsonrpc: "2.0", id: 1, method: "eth_chainId", params: [] }),
    signal: AbortSignal.timeout(2_000),
  });
  const { result } = (await response.json()) as { result?: string };
  if (Number(result) !== CHAIN_ID)
    throw new Error(`the node at ${rpcUrl} answers for chain ${result ?? "?"}`);
}
