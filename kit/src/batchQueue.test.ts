import fc from "fast-check";
import { runInContext, currentContext } from "./context";
import { DomainError } from "./contract/errors";
import { createBatchQueue, type Outcome } from "./batchQueue";
import { Registry } from "./metrics";

const ok = <T>(value: T): Outcome<T> => ({ ok: true, value });
const doubled = async (items: number[]) => items.map((item) => ok(item * 2));

/** A worker whose batches the test ends. */
function heldWorker() {
  const batches: { items: number[]; finish: () => void }[] = [];
  const work = (items: number[]) =>
    new Promise<Outcome<number>[]>((resolve) => {
      batches.push({ items, finish: () => resolve(items.map(ok)) });
    });
  return { batches, work };
}

const turn = () => new Promise((resolve) => setImmediate(resolve));

describe("batch queue", () => {
  it("answers each item with its own outcome", async () => {
    const queue = createBatchQueue({ name: "double", work: doubled, maxBatch: 10, maxQueue: 10 });
    expect(await Promise.all([1, 2, 3].map((item) => queue.submit(item)))).toEqual([2, 4, 6]);
  });

  it("passes all items that queued during the last batch to the next one", async () => {
    const { batches, work } = heldWorker();
    const queue = createBatchQueue({ name: "held", work, maxBatch: 10, maxQueue: 10 });
    const first = queue.submit(1);
    await turn();
    const rest = [queue.submit(2), queue.submit(3), queue.submit(4)];
    await turn();
    expect(batches.map(({ items }) => items)).toEqual([[1]]);
    expect(queue.depth).toBe(3);
    batches[0]!.finish();
    await first;
    await turn();
    expect(batches.map(({ items }) => items)).toEqual([[1], [2, 3, 4]]);
    batches[1]!.finish();
    await Promise.all(rest);
  });

  it("keeps a batch within its bound", async () => {
    const sizes: number[] = [];
    const work = async (items: number[]) => (sizes.push(items.length), items.map(ok));
    const queue = createBatchQueue({ name: "bounded", work, maxBatch: 3, maxQueue: 10 });
    await Promise.all(Array.from({ length: 8 }, (_, item) => queue.submit(item)));
    expect(sizes).toEqual([3, 3, 2]);
  });

  it("fails only the item that failed", async () => {
    const work = async (items: number[]): Promise<Outcome<number>[]> =>
      items.map((item) => (item === 2 ? { ok: false, error: new DomainError("TRF_001") } : ok(item)));
    const queue = createBatchQueue({ name: "one bad", work, maxBatch: 10, maxQueue: 10 });
    const results = await Promise.allSettled([1, 2, 3].map((item) => queue.submit(item)));
    expect(results.map(({ status }) => status)).toEqual(["fulfilled", "rejected", "fulfilled"]);
  });

  it("fails the batch of a worker that throws, and continues with the next", async () => {
    let calls = 0;
    const work = async (items: number[]) => {
      calls += 1;
      if (calls === 1) throw new Error("lost");
      return items.map(ok);
    };
    const queue = createBatchQueue({ name: "throws", work, maxBatch: 2, maxQueue: 10 });
    const results = await Promise.allSettled([1, 2, 3].map((item) => queue.submit(item)));
    expect(results.map(({ status }) => status)).toEqual(["rejected", "rejected", "fulfilled"]);
  });

  it("fails the batch of a worker that loses an outcome", async () => {
    const queue = createBatchQueue({ name: "short", work: async () => [ok(1)], maxBatch: 2, maxQueue: 2 });
    const results = await Promise.allSettled([queue.submit(1), queue.submit(2)]);
    expect(results.every(({ status }) => status === "rejected")).toBe(true);
  });

  it("refuses at once when the queue is full, with retryAfterMs", async () => {
    const { batches, work } = heldWorker();
    const queue = createBatchQueue({ name: "full", work, maxBatch: 2, maxQueue: 2 });
    const first = queue.submit(0);
    await turn();
    const queued = [queue.submit(1), queue.submit(2)];
    await expect(queue.submit(3)).rejects.toMatchObject({ code: "SYS_002", details: { retryAfterMs: 50 } });
    expect(queue.depth).toBe(2);
    batches[0]!.finish();
    await first;
    await turn();
    batches[1]!.finish();
    await Promise.all(queued);
  });

  it("serves an owner with few items beside one with many", async () => {
    const { batches, work } = heldWorker();
    const ownerOf = (item: number) => (item < 100 ? "many" : "few");
    const queue = createBatchQueue({ name: "shared", work, maxBatch: 4, maxQueue: 20, ownerOf });
    const first = queue.submit(0);
    await turn();
    const queued = [1, 2, 3, 4, 5, 6, 100, 101].map((item) => queue.submit(item));
    batches[0]!.finish();
    await first;
    await turn();
    expect(batches[1]!.items).toEqual([1, 2, 100, 101]);
    batches[1]!.finish();
    await turn();
    expect(batches[2]!.items).toEqual([3, 4, 5, 6]);
    batches[2]!.finish();
    await Promise.all(queued);
  });

  it("limits an owner to half of the queue, and frees a place when its item is taken", async () => {
    const { batches, work } = heldWorker();
    const ownerOf = (item: number) => (item < 100 ? "many" : "few");
    const queue = createBatchQueue({ name: "shares", work, maxBatch: 2, maxQueue: 4, ownerOf });
    const first = queue.submit(0);
    await turn();
    const queued = [queue.submit(1), queue.submit(2)];
    await expect(queue.submit(3)).rejects.toMatchObject({ code: "SYS_002" });
    queued.push(queue.submit(100));
    batches[0]!.finish();
    await first;
    await turn();
    expect(batches[1]!.items).toEqual([1, 100]);
    queued.push(queue.submit(4));
    await expect(queue.submit(5)).rejects.toMatchObject({ code: "SYS_002" });
    batches[1]!.finish();
    await turn();
    batches[2]!.finish();
    await Promise.all(queued);
  });

  it("answers accepted items before it closes, and refuses the rest", async () => {
    const queue = createBatchQueue({ name: "closing", work: doubled, maxBatch: 2, maxQueue: 10 });
    const accepted = [1, 2, 3, 4, 5].map((item) => queue.submit(item));
    const closed = queue.close();
    await expect(queue.submit(6)).rejects.toMatchObject({ code: "SYS_002" });
    await closed;
    expect(await Promise.all(accepted)).toEqual([2, 4, 6, 8, 10]);
    await queue.close();
  });

  it("runs a batch outside of its callers' contexts", async () => {
    const seen: unknown[] = [];
    const work = async (items: number[]) => (seen.push(currentContext()), items.map(ok));
    const queue = createBatchQueue({ name: "context", work, maxBatch: 2, maxQueue: 10 });
    const context = { requestId: "req_1", traceparent: "", deadlineMs: 1 };
    await runInContext(context, async () => {
      await queue.submit(1);
      expect(currentContext()).toBe(context);
    });
    expect(seen).toEqual([undefined]);
  });

  it("counts batches and the depth of the queue", async () => {
    const registry = new Registry();
    const queue = createBatchQueue({ name: "counted", work: doubled, maxBatch: 10, maxQueue: 10, registry });
    createBatchQueue({ name: "another", work: doubled, maxBatch: 10, maxQueue: 10, registry });
    await Promise.all([queue.submit(1), queue.submit(2)]);
    const text = await registry.metrics();
    expect(text).toContain('batch_queue_batch_size_sum{queue="counted"} 2');
    expect(text).toContain('batch_queue_wait_seconds_count{queue="counted"} 1');
    expect(text).toContain('batch_queue_depth{queue="another"} 0');
  });

  it("answers every accepted item exactly once, in order, under any interleaving", async () => {
    await fc.assert(
      fc.asyncProperty(
        fc.scheduler(),
        fc.array(fc.constantFrom("good", "bad", "throw"), { minLength: 1, maxLength: 30 }),
        fc.integer({ min: 1, max: 5 }),
        async (scheduler, kinds, maxBatch) => {
          const worked: number[] = [];
          const work = async (items: number[]): Promise<Outcome<number>[]> => {
            worked.push(...items);
            await scheduler.schedule(Promise.resolve());
            if (items.some((item) => kinds[item] === "throw")) throw new Error("thrown");
            return items.map((item) =>
              kinds[item] === "bad" ? { ok: false, error: new Error("bad") } : ok(item),
            );
          };
          const queue = createBatchQueue({ name: "any", work, maxBatch, maxQueue: 30 });
          const answers = kinds.map(async (_, item) => {
            await scheduler.schedule(Promise.resolve());
            return queue.submit(item);
          });
          const results = await scheduler.waitFor(Promise.allSettled(answers));
          await queue.close();
          expect([...worked].sort((a, b) => a - b)).toEqual(kinds.map((_, item) => item));
          results.forEach((result, item) => {
            if (result.status === "fulfilled") expect(result.value).toBe(item);
            if (kinds[item] !== "good") expect(result.status).toBe("rejected");
          });
        },
      ),
      { numRuns: 100 },
    );
  });
});
