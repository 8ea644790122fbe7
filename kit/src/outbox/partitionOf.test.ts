import { newId } from "../contract/ids";
import { partitionOf } from "./partitionOf";

it("gives an aggregate the documented partition", () => {
  expect(partitionOf("org_1", 6)).toBe(Number(BigInt("0x" + SHA256_OF_ORG_1.slice(0, 8)) % 6n));
});

it("spreads aggregates evenly over the partitions", () => {
  const counts = [0, 0, 0, 0, 0, 0];
  for (let made = 0; made < 6_000; made += 1) counts[partitionOf(newId("org"), 6)]! += 1;
  for (const count of counts) expect(Math.abs(count - 1_000)).toBeLessThan(200);
});

const SHA256_OF_ORG_1 = "dfc765491880219b4f5f9737fb927b089cbdc941f7c18762b1e5b3ba9d660cbb";
