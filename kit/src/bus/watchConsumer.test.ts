import { type Consumer } from "kafkajs";
import { Registry } from "../metrics";
import { testLog } from "../testing";
import { watchConsumer } from "./kafka";
import { busMetrics } from "./metrics";

const SESSION_MS = 10_000;

afterEach(() => void jest.useRealTimers());

test("a consumer whose heartbeats fail while it fetches is restarted, once", () => {
  const { emit, crashes } = watched();
  emit("HEARTBEAT");
  emit("FETCH");
  fetchFor(3 * SESSION_MS, emit);
  expect(crashes).toEqual([]);
  fetchFor(10 * SESSION_MS, emit);
  expect(crashes.map(({ message }) => message)).toEqual([
    "no heartbeat reached the coordinator of group within 30000 ms",
  ]);
});

test("a consumer that could not fetch either is not restarted, because the bus was away", () => {
  const { emit, crashes } = watched();
  emit("HEARTBEAT");
  fetchFor(2 * SESSION_MS, emit);
  jest.advanceTimersByTime(6 * SESSION_MS);
  emit("FETCH");
  emit("HEARTBEAT");
  fetchFor(3 * SESSION_MS, emit);
  expect(crashes).toEqual([]);
});

test("a consumer that stays in its group is never restarted", () => {
  const { emit, crashes } = watched();
  emit("GROUP_JOIN");
  for (let beats = 0; beats < 100; beats += 1) {
    jest.advanceTimersByTime(2 * SESSION_MS);
    emit("HEARTBEAT");
    jest.advanceTimersByTime(SESSION_MS);
    emit("FETCH");
  }
  expect(crashes).toEqual([]);
});

function fetchFor(ms: number, emit: (name: string) => void): void {
  for (let passed = 0; passed < ms; passed += SESSION_MS / 10) {
    jest.advanceTimersByTime(SESSION_MS / 10);
    emit("FETCH");
  }
}

function watched() {
  jest.useFakeTimers();
  const listeners = new Map<string, (event: object) => void>();
  const events = { FETCH: "FETCH", HEARTBEAT: "HEARTBEAT", GROUP_JOIN: "GROUP_JOIN", CRASH: "CRASH" };
  const consumer = { events, on: (name: string, listen: () => void) => void listeners.set(name, listen) };
  const crashes: Error[] = [];
  const still = () => undefined;
  watchConsumer(
    consumer as unknown as Consumer,
    {
      options: { brokers: [], replication: 1, clientId: "test", log: testLog() },
      tuning: { dial: () => fail(), sessionTimeoutMs: SESSION_MS, requestTimeoutMs: SESSION_MS },
      metrics: busMetrics(new Registry()),
    },
    {
      recordProgress: still,
      during: (work) => work(),
      idle: async () => undefined,
      stop: still,
      live: () => true,
    },
    "group",
    (error) => void crashes.push(error),
  );
  return { crashes, emit: (name: string) => listeners.get(name)!({ payload: {} }) };
}

function fail(): never {
  throw new Error("nobody is connected to");
}
