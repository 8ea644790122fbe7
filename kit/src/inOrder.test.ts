import { setTimeout as sleep } from "node:timers/promises";
import { inOrder } from "./inOrder";

async function* numbers(count: number, taken: number[]): AsyncIterable<number> {
  for (let number = 0; number < count; number += 1) {
    taken.push(number);
    yield number;
  }
}

test("results keep the order of their requests, whichever is done first", async () => {
  const results: number[] = [];
  const source = numbers(50, []);
  for await (const result of inOrder(
    source,
    10,
    async (number) => (await sleep(Math.random() * 5), number),
  )) {
    results.push(result);
  }
  expect(results).toEqual(Array.from({ length: 50 }, (_, number) => number));
});

test("stops taking requests at the limit while the results are not read", async () => {
  const taken: number[] = [];
  const results = inOrder(numbers(1_000, taken), 10, async (number) => number)[Symbol.asyncIterator]();
  await results.next();
  await sleep(20);
  expect(taken.length).toBeLessThanOrEqual(12);
  for (let read = 0; read < 999; read += 1) await results.next();
  expect(taken.length).toBe(1_000);
});

test("a reader that leaves ends the reading", async () => {
  const taken: number[] = [];
  for await (const _ of inOrder(numbers(1_000, taken), 10, async (number) => number)) break;
  await sleep(10);
  expect(taken.length).toBeLessThan(50);
});

test("a failed request and a failed source both fail the reader", async () => {
  const read = async (source: AsyncIterable<number>, work: (number: number) => Promise<number>) => {
    for await (const _ of inOrder(source, 10, work)) continue;
  };
  await expect(read(numbers(3, []), async () => Promise.reject(new Error("work")))).rejects.toThrow("work");
  async function* broken(): AsyncIterable<number> {
    yield 1;
    throw new Error("source");
  }
  await expect(read(broken(), async (number) => number)).rejects.toThrow("source");
});
