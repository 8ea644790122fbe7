import { lateEntries, newEntries } from "./verifyAlways";

const DAY_MS = 24 * 3_600_000;

/** Without what is far ahead. */
const newUntilNow = (fromMs: number, untilMs: number) => newEntries(fromMs, untilMs).slice(0, -1);

test.each([
  ["new", newUntilNow, 2_000],
  ["late", lateEntries, 10_000],
])(
  "a time of %s entries is read in small slices, one after the other, and no further",
  (_what, slicesOf, sliceMs) => {
    const slices = slicesOf(0, 59_000);
    expect(slices).toHaveLength(60_000 / sliceMs);
    expect(slices.map(({ from }) => from.getTime())).toEqual(slices.map((_, index) => index * sliceMs));
    expect(slices.at(-1)!.until).toEqual(new Date(59_000));
  },
);

test.each([
  ["new", newUntilNow],
  ["late", lateEntries],
])(
  "however long a time of %s entries a wrong clock makes, it is read in so many slices",
  (_what, slicesOf) => {
    const slices = slicesOf(0, 200 * DAY_MS);
    expect(slices.length).toBeLessThanOrEqual(10_000);
    slices.slice(1).forEach(({ from }, index) => expect(from).toEqual(slices[index]!.until));
    expect(slices.at(-1)!.until).toEqual(new Date(200 * DAY_MS));
  },
);

test("what a wrong clock has dated far ahead is not left for its time", () => {
  expect(newEntries(0, 10_000).at(-1)).toEqual({ from: new Date(70_000), until: null, lateMs: 0 });
});
