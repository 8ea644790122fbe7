import { type App } from "./app";
import { jobs } from "./jobs";

afterEach(() => jest.useRealTimers());

test("what the bus has to bring to a process that has just started is not looked for elsewhere", async () => {
  jest.useFakeTimers();
  const takeMissedEvents = jest.fn(() => Promise.resolve());
  const job = jobs({ takeMissedEvents } as unknown as App).find(({ name }) => name === "take_missed_events");
  const look = () => job!.run(new AbortController().signal);
  await look();
  jest.advanceTimersByTime(59_000);
  await look();
  expect(takeMissedEvents).not.toHaveBeenCalled();
  jest.advanceTimersByTime(1_000);
  await look();
  expect(takeMissedEvents).toHaveBeenCalledTimes(1);
});
