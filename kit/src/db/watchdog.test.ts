import type { ClientBase } from "pg";
import { createWatchdog } from "./watchdog";

const newClient = () => ({}) as ClientBase;

function startWatchdog() {
  const end = jest.fn<void, [ClientBase]>();
  return { ...createWatchdog({ statementTimeoutMs: 10_000, graceMs: 5_000, end }), end };
}

beforeEach(() => jest.useFakeTimers());
afterEach(() => jest.useRealTimers());

test.each([
  ["one statement", 1, 15_000],
  ["two pipelined statements", 2, 25_000],
  ["ten pipelined statements", 10, 25_000],
])("ends the connection of %s after its time without an answer", (_, statements, allowedMs) => {
  const client = newClient();
  const watchdog = startWatchdog();
  for (let count = 0; count < statements; count += 1) watchdog.started(client);
  jest.advanceTimersByTime(allowedMs);
  expect(watchdog.end).not.toHaveBeenCalled();
  jest.advanceTimersByTime(2_000);
  expect(watchdog.end).toHaveBeenCalledWith(client);
  watchdog.stop();
});

test.each([
  ["back", -3_600_000],
  ["forward", 3_600_000],
])("keeps its time when the clock is set %s by an hour", (_, setMs) => {
  const watchdog = startWatchdog();
  watchdog.started(newClient());
  jest.setSystemTime(Date.now() + setMs);
  jest.advanceTimersByTime(15_000);
  expect(watchdog.end).not.toHaveBeenCalled();
  jest.advanceTimersByTime(2_000);
  expect(watchdog.end).toHaveBeenCalled();
  watchdog.stop();
});

test("restarts the time at each answer and stops it at the last answer", () => {
  const client = newClient();
  const watchdog = startWatchdog();
  watchdog.started(client);
  watchdog.started(client);
  jest.advanceTimersByTime(20_000);
  watchdog.ended(client);
  jest.advanceTimersByTime(14_000);
  watchdog.ended(client);
  jest.advanceTimersByTime(60_000);
  expect(watchdog.end).not.toHaveBeenCalled();
  watchdog.stop();
});

test("doubts a connection that was last answered before a silent connection was asked", () => {
  const [idle, silent, busy, fresh] = [newClient(), newClient(), newClient(), newClient()];
  const watchdog = startWatchdog();
  const answered = (client: ClientBase) => (watchdog.started(client), watchdog.ended(client));
  for (const client of [idle, silent, busy]) answered(client);
  jest.advanceTimersByTime(1_000);
  watchdog.started(silent);
  jest.advanceTimersByTime(1_000);
  answered(busy);
  const all = [idle, silent, busy, fresh];
  expect(all.map((client) => watchdog.isSuspect(client))).toEqual([false, false, false, false]);
  jest.advanceTimersByTime(17_000);
  expect([idle, busy, fresh].map((client) => watchdog.isSuspect(client))).toEqual([true, false, false]);
  watchdog.stop();
});
