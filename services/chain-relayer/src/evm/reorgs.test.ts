import { type Block } from "./provider";
import { createReorgWatch } from "./reorgs";
import { testRegistry } from "@wonrail/kit/testing";

function block(number: number, fork: string): Block {
  return {
    number: BigInt(number),
    hash: `${fork}${number}`,
    parentHash: "",
    time: 0n,
    baseFeeWei: 0n,
    gasLimit: 0n,
  };
}

/**
 * Watches a chain whose blocks the test changes. Returns the number and the depth of
 * reorganisations.
 */
function watchOf(chain: { block: (number: bigint) => Block | null }) {
  const registry = testRegistry();
  const look = createReorgWatch(registry);
  const figures = async () => {
    const text = await registry.metrics();
    return ["chain_reorgs_total", "reorg_depth"].map((name) =>
      Number(new RegExp(`^${name}\\S* (\\d+)$`, "m").exec(text)?.[1]),
    );
  };
  return async (head: Block) => {
    await look({ block: async (number) => chain.block(number) }, head);
    return figures();
  };
}

test("counts a reorganisation once with its depth, and ignores a node that is behind", async () => {
  const chain = { block: (number: bigint): Block | null => block(Number(number), "a") };
  const look = watchOf(chain);
  for (const number of [10, 11, 12]) expect(await look(block(number, "a"))).toEqual([0, 0]);
  chain.block = () => null;
  expect(await look(block(11, "a"))).toEqual([0, 0]);
  chain.block = (number) => block(Number(number), number > 10n ? "b" : "a");
  expect(await look(block(13, "b"))).toEqual([1, 2]);
});

test("counts all seen blocks when none of them remains", async () => {
  const chain = { block: (number: bigint) => block(Number(number), "a") };
  const look = watchOf(chain);
  for (const number of [10, 15, 20]) await look(block(number, "a"));
  chain.block = (number) => block(Number(number), "b");
  expect(await look(block(25, "b"))).toEqual([1, 11]);
});

test("reports the deepest of the last thirty looks", async () => {
  const chain = { block: (number: bigint) => block(Number(number), "a") };
  const look = watchOf(chain);
  for (const number of [10, 11, 12, 13]) await look(block(number, "a"));
  chain.block = (number) => block(Number(number), number > 10n ? "b" : "a");
  expect(await look(block(14, "b"))).toEqual([1, 3]);
  await look(block(15, "b"));
  chain.block = (number) => block(Number(number), number > 14n ? "c" : number > 10n ? "b" : "a");
  for (let count = 3; count <= 30; count += 1) expect(await look(block(16, "c"))).toEqual([2, 3]);
  for (let count = 31; count <= 32; count += 1) expect(await look(block(16, "c"))).toEqual([2, 1]);
  expect(await look(block(16, "c"))).toEqual([2, 0]);
});
