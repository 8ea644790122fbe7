import { join } from "node:path";
import { setTimeout as sleep } from "node:timers/promises";
import { inheritedEnv } from "@wonrail/local/config";
import { anvilBinary, CHAIN_ID, STATES_KEPT } from "@wonrail/local/parts/anvil";
import { jsonRpc } from "@wonrail/local/parts/jsonRpc";
import { randomFreePort } from "@wonrail/local/process/freePort";
import { type Guard } from "@wonrail/local/process/guard";
import { startProcess } from "@wonrail/local/process/ownedProcess";

/** A real EVM node whose clock the test controls. The block two before the newest is final. */
export interface ChainNode {
  url: string;
  rpc<T>(method: string, params?: unknown[]): Promise<T>;
  mine(blocks?: number): Promise<void>;
  /**
   * Replaces the newest blocks by empty ones. Not while the node mines by itself: a block that it
   * mines meanwhile leaves balances that no block explains.
   */
  reorganise(depth: number): Promise<void>;
  /** Mines a block every so often until `pause`. */
  run(everyMs: number): void;
  pause(): Promise<void>;
}

export async function startNode({ dir, guard }: { dir: string; guard: Guard }): Promise<ChainNode> {
  const port = await randomFreePort();
  const url = `http://127.0.0.1:${port}`;
  const rpc = <T>(method: string, params: unknown[] = []) => jsonRpc<T>(url, method, params);
  await startProcess(
    {
      name: "anvil",
      command: anvilBinary(),
      args: () => [
        ...["--host", "127.0.0.1", "--port", `${port}`, "--chain-id", `${CHAIN_ID}`, "--quiet"],
        ...["--no-mining", "--slots-in-an-epoch", "1", "--prune-history", `${STATES_KEPT}`],
        ...["--accounts", "3", "--gas-limit", "60000000"],
      ],
      env: inheritedEnv(),
      cwd: dir,
      logFile: join(dir, "anvil.log"),
      stopSignal: "SIGTERM",
      stopGraceMs: 3_000,
      readyTimeoutMs: 60_000,
      probe: async () => void (await rpc("eth_chainId")),
    },
    guard,
  );
  const alone = createQueue();
  const mine = (blocks = 1) => alone(() => rpc<void>("anvil_mine", [`0x${blocks.toString(16)}`]));
  let clock = startClock(mine, 0);
  return {
    url,
    rpc,
    mine,
    reorganise: (depth) => alone(() => rpc<void>("anvil_reorg", [depth, []])),
    run: (everyMs) => void (clock = startClock(mine, everyMs)),
    pause: () => clock(),
  };
}

/** Returns a function that runs one piece of work after the other. */
function createQueue(): <T>(work: () => Promise<T>) => Promise<T> {
  let last: Promise<unknown> = Promise.resolve();
  return (work) => {
    const next = last.then(work, work);
    last = next;
    return next;
  };
}

/** Returns the function that stops the clock. */
function startClock(mine: () => Promise<void>, everyMs: number): () => Promise<void> {
  let stopped = everyMs === 0;
  const loop = (async () => {
    while (!stopped) {
      await mine().catch(() => undefined);
      await sleep(everyMs);
    }
  })();
  return () => {
    stopped = true;
    return loop;
  };
}
