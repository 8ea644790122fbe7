import { randomFillSync } from "node:crypto";

const block = Buffer.alloc(4096);
let used = block.length;

/** So many random bytes in hex. Drawn in blocks: at an id and a span for each item of every batch, a draw for each takes several times as long. */
export function randomHex(bytes: number): string {
  if (used + bytes > block.length) {
    randomFillSync(block);
    used = 0;
  }
  used += bytes;
  return block.toString("hex", used - bytes, used);
}
