import { createScanSpan } from "./scanSpan";

test("the span grows to at most two hundred blocks while they are empty", () => {
  const span = createScanSpan();
  for (let times = 0; times < 10; times += 1) span.tookIn(0);
  expect(span.blocks).toBe(200n);
});

test.each([
  [2_499, 16n],
  [2_500, 8n],
  [10_000, 8n],
  [10_001, 4n],
])("a span with %d events is followed by one of %d blocks", (events, blocks) => {
  const span = createScanSpan();
  span.tookIn(events);
  expect(span.blocks).toBe(blocks);
});

test("the span shrinks for full blocks at any earlier size", () => {
  const span = createScanSpan();
  for (let times = 0; times < 10; times += 1) span.tookIn(0);
  for (let times = 0; times < 20; times += 1) span.tookIn(Number(span.blocks) * 9_000);
  expect(span.blocks).toBe(1n);
});

test("the span shrinks down to one block while an endpoint refuses it", () => {
  const span = createScanSpan();
  for (let times = 0; times < 10; times += 1) span.tookIn(0);
  let asked = 0;
  for (; span.blocks > 10n; asked += 1) span.failed();
  expect(asked).toBe(5);
  for (let times = 0; times < 10; times += 1) span.failed();
  expect(span.blocks).toBe(1n);
});
