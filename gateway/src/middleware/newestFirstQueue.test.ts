import { createNewestFirstQueue } from "./newestFirstQueue";

const refusal = new Error("refused");

function start() {
  const run = createNewestFirstQueue({ maxRunning: 1, maxWaiting: 2, maxWaitMs: 60_000 });
  const started: string[] = [];
  const finish = new Map<string, () => void>();
  const add = (name: string) =>
    run(() => {
      started.push(name);
      return new Promise<string>((resolve) => finish.set(name, () => resolve(name)));
    }, refusal);
  return { started, finish, add };
}

test("the newest waiting task starts next, and the oldest is refused when the queue is full", async () => {
  const { started, finish, add } = start();
  const first = add("first");
  const second = add("second");
  const third = add("third");
  const fourth = add("fourth");
  await expect(second).rejects.toBe(refusal);
  finish.get("first")!();
  expect(await first).toBe("first");
  finish.get("fourth")!();
  expect(await fourth).toBe("fourth");
  finish.get("third")!();
  expect(await third).toBe("third");
  expect(started).toEqual(["first", "fourth", "third"]);
});

test("a task that waits longer than the limit is refused and leaves the queue", async () => {
  const run = createNewestFirstQueue({ maxRunning: 1, maxWaiting: 2, maxWaitMs: 1 });
  let finish = () => {};
  const first = run(() => new Promise<void>((resolve) => (finish = resolve)), refusal);
  await expect(run(async () => undefined, refusal)).rejects.toBe(refusal);
  finish();
  await first;
  expect(await run(async () => "served", refusal)).toBe("served");
});
