/**
 * Mines the local chain's blocks: one a second while there is something to mine or to make final, and one now and then
 * so that chain time moves. A node that mines by itself has two modes. In the first it makes no block after a
 * transaction, so no transaction becomes final. In the second it makes a block every second for ever.
 *
 * The state is written to disk after every second block. A block is final when two more were mined, so every final
 * block is on disk. If the node is killed, it comes back without two blocks at most, and none of them was final.
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
/** The node answers nothing else while it writes a large state. It rests for as long as that took. */
const PAUSE_PER_DUMP = 1;

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
  let blocksNotKept = 0;

  async function keep(): Promise<void> {
    await keepState(rpcUrl, stateFile);
    blocksNotKept = 0;
  }

  /** Returns how long to wait for the next look. */
  async function tick(): Promise<number> {
    const { instanceId } = await jsonRpc<{ instanceId: string }>(rpcUrl, "anvil_metadata");
    if (instanceId !== instance) {
      // A node that was started again may have mined already, to have a final block that it can be asked about.
      await keep();
      instance = instanceId;
      toMine = BLOCKS_TO_FINALITY;
    }
    // The last try failed. Another block would make one final that is not on disk.
    if (blocksNotKept >= BLOCKS_TO_FINALITY) await keep();
    const { pending } = await jsonRpc<{ pending: string }>(rpcUrl, "txpool_status");
    if (Number(pending) > 0) toMine = BLOCKS_TO_FINALITY + 1;
    if (toMine === 0 && Date.now() - lastBlockAt < idleBlockMs) return blockMs;
    await jsonRpc(rpcUrl, "evm_mine");
    blocksNotKept += 1;
    // A transaction may have come between the look and the block: what counts is what the block holds.
    const mined = await jsonRpc<string>(rpcUrl, "eth_getBlockTransactionCountByNumber", ["latest"]);
    toMine = Number(mined) > 0 ? BLOCKS_TO_FINALITY : Math.max(0, toMine - 1);
    lastBlockAt = Date.now();
    if (blocksNotKept < BLOCKS_TO_FINALITY && toMine > 0) return blockMs;
    await keep();
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
      // If the node has stopped already, the last file stays.
      if (blocksNotKept > 0) await keep().catch(() => undefined);
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
