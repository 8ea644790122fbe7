import { lateEntries, newEntries } from "./verifyAlways";

const DAY_MS = 24 * 3_600_000;

test.each([
  ["new", newEntries, 2_000],
  ["late", lateEntries, 10_000],
])("a time of %s entries is read in small slices, one after the other", (_what, slicesOf, sliceMs) => {
  const slices = slicesOf(0, 60_000);
  expect(slices).toHaveLength(60_000 / sliceMs);
  expect(slices.map(({ from }) => from.getTime())).toEqual(slices.map((_, index) => index * sliceMs));
});

test.each([
  ["new", newEntries],
  ["late", lateEntries],
])(
  "however long a time of %s entries a wrong clock makes, it is read in so many slices",
  (_what, slicesOf) => {
    const slices = slicesOf(0, 200 * DAY_MS);
    expect(slices.length).toBeLessThanOrEqual(10_000);
    slices.slice(1).forEach(({ from }, index) => expect(from).toEqual(slices[index]!.until));
    expect(slices.at(-1)!.from.getTime()).toBeLessThan(200 * DAY_MS);
    expect((slices.at(-1)!.until?.getTime() ?? Infinity) >= 200 * DAY_MS).toBe(true);
  },
);
