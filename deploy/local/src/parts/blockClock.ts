/**
 * Mines the local chain's blocks: one a second while there is something to mine or to make final, and one now and then so that chain time
 * moves. A node that mines by itself either makes no block after a transaction, and then nothing becomes final, or one every second for
 * ever, which costs 150 MB of state a day.
 *
 * The state is kept after every block and before the next one. A block is final only when two more were mined, so what a reader took as
 * final is on disk, and killing the node can take back no more than a real chain's reorganisation would.
 */
import { rename, writeFile } from "node:fs/promises";
import { promisify } from "node:util";
import { setTimeout as sleep } from "node:timers/promises";
import { gunzip } from "node:zlib";
import { jsonRpc } from "./jsonRpc";

export interface BlockClock {
  close(): Promise<void>;
}

interface ClockOptions {
  rpcUrl: string;
  stateFile: string;
  blockMs?: number;
  idleBlockMs?: number;
}

/** A block is final when so many came after it. */
const BLOCKS_TO_FINALITY = 2;
/** Keeping a large state takes time, of which the node gets at most a fifth. */
const PAUSE_PER_DUMP = 4;

export function startBlockClock({
  rpcUrl,
  stateFile,
  blockMs = 1_000,
  idleBlockMs = 15_000,
}: ClockOptions): BlockClock {
  const stop = new AbortController();
  let instance = "";
  let toMine = 0;
  let lastBlockAt = Date.now();

  /** Returns how long to wait for the next look. */
  async function tick(): Promise<number> {
    const { instanceId } = await jsonRpc<{ instanceId: string }>(rpcUrl, "anvil_metadata");
    if (instanceId !== instance) {
      // A node that was started again may have mined already, to have a final block that it can be asked about.
      await keepState(rpcUrl, stateFile);
      instance = instanceId;
      toMine = BLOCKS_TO_FINALITY;
    }
    const { pending } = await jsonRpc<{ pending: string }>(rpcUrl, "txpool_status");
    if (Number(pending) > 0) toMine = BLOCKS_TO_FINALITY + 1;
    if (toMine === 0 && Date.now() - lastBlockAt < idleBlockMs) return blockMs;
    await jsonRpc(rpcUrl, "evm_mine");
    // A transaction may have come between the look and the block: what counts is what the block holds.
    const mined = await jsonRpc<string>(rpcUrl, "eth_getBlockTransactionCountByNumber", ["latest"]);
    toMine = Number(mined) > 0 ? BLOCKS_TO_FINALITY : Math.max(0, toMine - 1);
    lastBlockAt = Date.now();
    await keepState(rpcUrl, stateFile);
    return Math.max(blockMs, (Date.now() - lastBlockAt) * PAUSE_PER_DUMP);
  }

  async function run(): Promise<void> {
    while (!stop.signal.aborted) {
      // A node that is away comes back with the state that was kept.
      const pauseMs = await tick().catch(() => blockMs);
      await sleep(pauseMs, undefined, { signal: stop.signal }).catch(() => undefined);
    }
  }

  const running = run();
  return {
    async close() {
      stop.abort();
      await running;
    },
  };
}

/** The node writes its file in place, so a kill in the middle would leave half a chain; this one is whole or the one before. */
async function keepState(rpcUrl: string, stateFile: string): Promise<void> {
  const dump = await jsonRpc<string>(rpcUrl, "anvil_dumpState");
  const state = await promisify(gunzip)(Buffer.from(dump.slice(2), "hex"));
  await writeFile(`${stateFile}.new`, state, { mode: 0o600 });
  await rename(`${stateFile}.new`, stateFile);
}
