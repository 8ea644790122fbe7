import { mergeTimelines, type TimelineEvent } from "./timeline";

const event = (source: string, title: string, at?: string): TimelineEvent => ({ source, title, at });
const titles = (events: TimelineEvent[]) => events.map(({ title }) => title);

test("events of all services are in the order of their times", () => {
  const ledger = [event("ledger", "posted", "2026-11-27T10:00:00.001Z")];
  const relayer = [
    event("chain-relayer", "queued", "2026-11-27T10:00:00.500Z"),
    event("chain-relayer", "final", "2026-11-27T10:00:09Z"),
  ];
  const events = [event("events", "delivered", "2026-11-27T10:00:01+00:00")];
  expect(titles(mergeTimelines([relayer, events, ledger]))).toEqual([
    "posted",
    "queued",
    "delivered",
    "final",
  ]);
});

test("an event without a time stays behind its predecessor", () => {
  const relayer = [
    event("chain-relayer", "seen", "2026-11-27T10:00:00Z"),
    event("chain-relayer", "refused"),
    event("chain-relayer", "credited", "2026-11-27T10:00:02Z"),
  ];
  const events = [event("events", "made", "2026-11-27T10:00:01Z")];
  expect(titles(mergeTimelines([events, relayer]))).toEqual(["seen", "refused", "made", "credited"]);
});

test("events of the same time keep the order of the services and of each service", () => {
  const at = "2026-11-27T10:00:00Z";
  const first = [event("ledger", "a", at), event("ledger", "b", at)];
  expect(titles(mergeTimelines([first, [event("events", "c", at)]]))).toEqual(["a", "b", "c"]);
  expect(titles(mergeTimelines([[event("x", "first")], [event("y", "second")]]))).toEqual([
    "first",
    "second",
  ]);
});
