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

test("counts a reorganisation once, with its depth, and takes a node that is behind for nothing", async () => {
  const registry = testRegistry();
  const look = createReorgWatch(registry);
  let chain = (number: bigint): Block | null => block(Number(number), "a");
  const provider = { block: async (number: bigint) => chain(number) };
  const figures = async () => {
    const text = await registry.metrics();
    return ["chain_reorgs_total", "reorg_depth"].map((name) =>
      Number(new RegExp(`^${name}\\S* (\\d+)$`, "m").exec(text)?.[1]),
    );
  };
  for (const number of [10, 11, 12]) await look(provider, block(number, "a"));
  expect(await figures()).toEqual([0, 0]);
  chain = () => null;
  await look(provider, block(11, "a"));
  expect(await figures()).toEqual([0, 0]);
  chain = (number) => block(Number(number), number > 10n ? "b" : "a");
  await look(provider, block(13, "b"));
  expect(await figures()).toEqual([1, 2]);
  await look(provider, block(14, "b"));
  expect(await figures()).toEqual([1, 0]);
});
