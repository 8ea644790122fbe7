import { randomFillSync } from "node:crypto";

const block = Buffer.alloc(4096);
let used = block.length;

/**
 * Random bytes in hex, drawn in blocks: a draw for each id and span of a batch takes several times
 * as long.
 */
export function randomHex(bytes: number): string {
  if (used + bytes > block.length) {
    randomFillSync(block);
    used = 0;
  }
  used += bytes;
  return block.toString("hex", used - bytes, used);
}
