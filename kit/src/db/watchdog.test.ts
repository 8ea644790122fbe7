import type { ClientBase } from "pg";
import { createWatchdog } from "./watchdog";

beforeEach(() => jest.useFakeTimers());
afterEach(() => jest.useRealTimers());

test.each([
  ["one statement", 1, 15_000],
  ["two in one message", 2, 25_000],
  ["ten in one message", 10, 25_000],
])(
  "%s that nobody answers ends the connection after its time, and not before",
  (_, statements, allowedMs) => {
    const destroy = jest.fn();
    const client = { connection: { stream: { destroy } } } as unknown as ClientBase;
    const watchdog = createWatchdog(10_000, 5_000);
    watchdog.started(client, statements);
    jest.advanceTimersByTime(allowedMs);
    expect(destroy).not.toHaveBeenCalled();
    jest.advanceTimersByTime(2_000);
    expect(destroy).toHaveBeenCalled();
    watchdog.stop();
  },
);

test.each([
  ["back", -3_600_000],
  ["on", 3_600_000],
])("a clock that is set an hour %s ends no connection earlier or later", (_, setMs) => {
  const destroy = jest.fn();
  const client = { connection: { stream: { destroy } } } as unknown as ClientBase;
  const watchdog = createWatchdog(10_000, 5_000);
  watchdog.started(client);
  jest.setSystemTime(Date.now() + setMs);
  jest.advanceTimersByTime(15_000);
  expect(destroy).not.toHaveBeenCalled();
  jest.advanceTimersByTime(2_000);
  expect(destroy).toHaveBeenCalled();
  watchdog.stop();
});

test("each answer restarts the timeout, and the last answer ends it", () => {
  const destroy = jest.fn();
  const client = { connection: { stream: { destroy } } } as unknown as ClientBase;
  const watchdog = createWatchdog(10_000, 5_000);
  watchdog.started(client, 2);
  jest.advanceTimersByTime(20_000);
  watchdog.ended(client);
  jest.advanceTimersByTime(14_000);
  watchdog.ended(client);
  jest.advanceTimersByTime(60_000);
  expect(destroy).not.toHaveBeenCalled();
  watchdog.stop();
});

test("a silent connection puts only connections in doubt that were heard before it", () => {
  const clients = ["idle", "silent", "busy", "new"].map(
    () => ({ connection: { stream: { destroy: jest.fn() } } }) as unknown as ClientBase,
  );
  const [idle, silent, busy, fresh] = clients as [ClientBase, ClientBase, ClientBase, ClientBase];
  const watchdog = createWatchdog(10_000, 5_000);
  const answered = (client: ClientBase) => (watchdog.started(client), watchdog.ended(client));
  for (const client of [idle, silent, busy]) answered(client);
  jest.advanceTimersByTime(1_000);
  watchdog.started(silent);
  jest.advanceTimersByTime(1_000);
  answered(busy);
  expect(clients.map((client) => watchdog.isDoubted(client))).toEqual(Array(4).fill(false));
  jest.advanceTimersByTime(17_000);
  expect([idle, busy, fresh].map((client) => watchdog.isDoubted(client))).toEqual([true, false, false]);
  watchdog.stop();
});
