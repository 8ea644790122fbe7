import { createPace, MAX_HEAD_START_MS } from "./pace";

function paceAfter(tookMs: number[]) {
  const pace = createPace();
  tookMs.forEach((ms) => pace.ended(ms));
  return pace;
}

const often = (tookMs: number) => Array.from({ length: 100 }, () => tookMs);

test("the next call waits the full pause while no duration is known", () => {
  expect(createPace().headStartMs(0)).toBe(MAX_HEAD_START_MS);
});

test("calls of 30 ms leave every 10 ms, so that three run at once", () => {
  expect(paceAfter(often(30)).headStartMs(0)).toBeCloseTo(10, 1);
  expect(paceAfter(often(30)).headStartMs(2)).toBeCloseTo(10, 1);
});

test("the next call beyond three waits the full pause, so that hanging calls do not accumulate", () => {
  expect(paceAfter(often(30)).headStartMs(3)).toBe(MAX_HEAD_START_MS);
  expect(paceAfter(often(30)).headStartMs(100)).toBe(MAX_HEAD_START_MS);
});

test("no call delays the next one by more than 50 ms", () => {
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
