import { createScanSpan } from "./scanSpan";

test("blocks in which nothing happens are soon asked for by the two hundred, and never by more", () => {
  const span = createScanSpan();
  for (let times = 0; times < 10; times += 1) span.tookIn(0);
  expect(span.blocks).toBe(200n);
});

test("full blocks are asked for few at a time, whatever came before", () => {
  const span = createScanSpan();
  for (let times = 0; times < 10; times += 1) span.tookIn(0);
  for (let times = 0; times < 20; times += 1) span.tookIn(Number(span.blocks) * 9_000);
  expect(span.blocks).toBe(1n);
});

test("an endpoint that refuses many blocks is asked for fewer until it answers, and never for none", () => {
  const span = createScanSpan();
  for (let times = 0; times < 10; times += 1) span.tookIn(0);
  let asked = 0;
  for (; span.blocks > 10n; asked += 1) span.failed();
  expect(asked).toBe(5);
  for (let times = 0; times < 10; times += 1) span.failed();
  expect(span.blocks).toBe(1n);
});
