/**
 * Mines the local chain's blocks: one per second while a transaction waits or is not final, and
 * otherwise a rare one, so that chain time moves.
 * The node's own modes do not fit: one mines no block after a transaction, so no transaction
 * becomes final, and the other mines every second for ever.
 * The state is saved after every second block. A block is final under two more, so every final
 * block is on disk. A killed node loses at most two blocks, and none of them was final.
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

/** Number of blocks on top that make a block final. */
const BLOCKS_TO_FINALITY = 2;
/**
 * The node answers nothing while it writes a large state, so it rests for the same time afterwards.
 */
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
      // A restarted node may have mined, because its probe needs a readable final block.
      await keep();
      instance = instanceId;
      toMine = BLOCKS_TO_FINALITY;
    }
    // The last save failed. Another block would finalise one that is not on disk.
    if (blocksNotKept >= BLOCKS_TO_FINALITY) await keep();
    const { pending } = await jsonRpc<{ pending: string }>(rpcUrl, "txpool_status");
    if (Number(pending) > 0) toMine = BLOCKS_TO_FINALITY + 1;
    if (toMine === 0 && Date.now() - lastBlockAt < idleBlockMs) return blockMs;
    await jsonRpc(rpcUrl, "evm_mine");
    blocksNotKept += 1;
    // A transaction may have arrived after the check, so the mined block decides.
    const mined = await jsonRpc<string>(rpcUrl, "eth_getBlockTransactionCountByNumber", ["latest"]);
    toMine = Number(mined) > 0 ? BLOCKS_TO_FINALITY : Math.max(0, toMine - 1);
    lastBlockAt = Date.now();
    if (blocksNotKept < BLOCKS_TO_FINALITY && toMine > 0) return blockMs;
    await keep();
    return Math.max(blockMs, (Date.now() - lastBlockAt) * PAUSE_PER_DUMP);
  }

  async function run(): Promise<void> {
    while (!stop.signal.aborted) {
      // A node that is away comes back with the saved state.
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

/** The node writes its file in place, and a kill would truncate it. A rename keeps it complete. */
async function keepState(rpcUrl: string, stateFile: string): Promise<void> {
  const dump = await jsonRpc<string>(rpcUrl, "anvil_dumpState");
  const state = await promisify(gunzip)(Buffer.from(dump.slice(2), "hex"));
  await writeFile(`${stateFile}.new`, state, { mode: 0o600 });
  await rename(`${stateFile}.new`, stateFile);
}
