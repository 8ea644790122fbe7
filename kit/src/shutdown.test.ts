import { type EventEmitter } from "node:events";
import { testLog } from "./testing/testLog";
import { createShutdown } from "./shutdown";

function prepared(graceMs = 60_000, settleMs = 0) {
  const order: string[] = [];
  const exits: number[] = [];
  const exit = (code: number) => void exits.push(code);
  const shutdown = createShutdown({ log: testLog(), settleMs, graceMs, exit });
  const add = (name: string, close = async () => {}) =>
    shutdown.add(name, async () => {
      order.push(name);
      await close();
    });
  return { shutdown, add, order, exits };
}

test("closes in the order of addition, each after its predecessor, and exits with 0", async () => {
  const { shutdown, add, order, exits } = prepared();
  add("readiness", () => new Promise((resolve) => setTimeout(resolve, 10)));
  add("grpc");
  add("database");
  await shutdown.run("test");
  expect(order).toEqual(["readiness", "grpc", "database"]);
  expect(exits).toEqual([0]);
});

test("a failed step does not stop the later ones, and the process exits with 1", async () => {
  const { shutdown, add, order, exits } = prepared();
  add("consumers", () => Promise.reject(new Error("no broker")));
  add("database");
  await shutdown.run("test");
  expect(order).toEqual(["consumers", "database"]);
  expect(exits).toEqual([1]);
});

test("the exit code of a failed start is kept", async () => {
  const { shutdown, exits } = prepared();
  process.exitCode = 3;
  await shutdown.run("start failed");
  process.exitCode = undefined;
  expect(exits).toEqual([3]);
});

test("the process exits with 1 when a step outlasts the grace period", async () => {
  const { shutdown, add, exits } = prepared(20);
  add("grpc", () => new Promise(() => undefined));
  void shutdown.run("test");
  await new Promise((resolve) => setTimeout(resolve, 60));
  expect(exits).toEqual([1]);
});

test("the grace period starts after the settling", async () => {
  const [settleMs, graceMs] = [10_000, 1_000];
  const { shutdown, add, order, exits } = prepared(graceMs, settleMs);
  jest.useFakeTimers();
  add("readiness", () => new Promise((resolve) => setTimeout(resolve, settleMs)));
  add("grpc", () => new Promise((resolve) => setTimeout(resolve, graceMs - 1)));
  add("consumers", () => new Promise(() => undefined));
  void shutdown.run("test");
  await jest.advanceTimersByTimeAsync(settleMs + graceMs - 1);
  expect({ order, exits }).toEqual({ order: ["readiness", "grpc", "consumers"], exits: [] });
  await jest.advanceTimersByTimeAsync(1);
  expect(exits).toEqual([1]);
  jest.useRealTimers();
});

test("two reasons to stop cause one stop", async () => {
  const { shutdown, add, order, exits } = prepared();
  add("database");
  await Promise.all([shutdown.run("crash"), shutdown.run("SIGTERM")]);
  expect(order).toEqual(["database"]);
  expect(exits).toEqual([0]);
});

test("the first signal closes, the second ends the process at once", async () => {
  const { shutdown, add, order, exits } = prepared(100);
  add("grpc", () => new Promise(() => undefined));
  shutdown.listen();
  process.emit("SIGTERM", "SIGTERM");
  expect(order).toEqual(["grpc"]);
  expect(exits).toEqual([]);
  process.emit("SIGINT", "SIGINT");
  expect(exits).toEqual([1]);
  process.removeAllListeners("SIGTERM").removeAllListeners("SIGINT");
});

test("an uncaught error closes everything and exits with 1, and a second one does not interrupt", async () => {
  const { shutdown, add, order, exits } = prepared();
  add("grpc", () => new Promise((resolve) => setTimeout(resolve, 10)));
  add("database");
  shutdown.listen();
  const emitter: EventEmitter = process;
  for (const message of ["first", "second"]) emitter.emit("uncaughtException", new Error(message));
  await shutdown.run("test");
  process.removeAllListeners("SIGTERM").removeAllListeners("SIGINT").removeAllListeners("uncaughtException");
  process.exitCode = undefined;
  expect(order).toEqual(["grpc", "database"]);
  expect(exits).toEqual([1]);
});
