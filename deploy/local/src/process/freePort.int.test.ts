import { randomFreePort } from "./freePort";

const own = process.env.JEST_WORKER_ID;
afterEach(() => {
  process.env.JEST_WORKER_ID = own;
});

test("workers of a test run use disjoint ports, and no port is given out twice", async () => {
  const given: number[] = [];
  const ranges: [number, number][] = [];
  for (const worker of ["1", "2", "3"]) {
    process.env.JEST_WORKER_ID = worker;
    const ports = await Promise.all(Array.from({ length: 300 }, () => randomFreePort()));
    ranges.push([Math.min(...ports), Math.max(...ports)]);
    given.push(...ports);
  }
  expect(new Set(given).size).toBe(900);
  for (const [index, [, highest]] of ranges.slice(0, -1).entries())
    expect(highest).toBeLessThan(ranges[index + 1]![0]);
});
