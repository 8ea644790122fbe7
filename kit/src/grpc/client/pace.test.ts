import { createPace, MAX_HEAD_START_MS } from "./pace";

function paceAfter(tookMs: number[]) {
  const pace = createPace();
  tookMs.forEach((ms) => pace.ended(ms));
  return pace;
}

const often = (tookMs: number) => Array.from({ length: 100 }, () => tookMs);

test("while nothing is known of how long calls take, the next one waits as long as it may", () => {
  expect(createPace().headStartMs(0)).toBe(MAX_HEAD_START_MS);
});

test("calls of 30 ms leave every 10 ms, so that three are under way", () => {
  expect(paceAfter(often(30)).headStartMs(0)).toBeCloseTo(10, 1);
  expect(paceAfter(often(30)).headStartMs(2)).toBeCloseTo(10, 1);
});

test("beyond three the next one waits as long as it may: calls that hang do not pile up", () => {
  expect(paceAfter(often(30)).headStartMs(3)).toBe(MAX_HEAD_START_MS);
  expect(paceAfter(often(30)).headStartMs(100)).toBe(MAX_HEAD_START_MS);
});

test("no call keeps the next one waiting for longer than 50 ms, however long calls take", () => {
  expect(paceAfter(often(5_000)).headStartMs(0)).toBe(MAX_HEAD_START_MS);
});

test("two dozen normal calls outweigh one call of a minute", () => {
  const pace = paceAfter([...often(6), 60_000]);
  expect(pace.headStartMs(0)).toBeLessThan(10);
  often(6)
    .slice(0, 24)
    .forEach((ms) => pace.ended(ms));
  expect(pace.headStartMs(0)).toBeLessThan(2.5);
});
