import fc from "fast-check";
import { drawTokens, RATE_LEASE_MS, type RateBucket } from "./rates";

const at = (ms: number) => new Date(1_700_000_000_000 + ms);
const full: RateBucket = { millitokens: 20_000n, refilledAt: at(0) };
const rule = { perSecond: 10, burst: 20 };

test("a full bucket grants its burst, and then its refill", () => {
  const first = drawTokens(full, rule, at(0), 20);
  expect(first).toMatchObject({ granted: 20, remaining: 0, retryAfterMs: 100 });
  expect(drawTokens(first.bucket, rule, at(99), 1)).toMatchObject({ granted: 0, retryAfterMs: 1 });
  expect(drawTokens(first.bucket, rule, at(100), 1)).toMatchObject({ granted: 1, remaining: 0 });
});

test("a bucket never holds more than its burst", () => {
  expect(drawTokens(full, rule, at(3_600_000), 1)).toMatchObject({ granted: 1, remaining: 19 });
});

test("half of the tokens are granted when they do not suffice", () => {
  expect(drawTokens(full, rule, at(0), 30)).toMatchObject({ granted: 10, remaining: 10, retryAfterMs: 0 });
  const one = { millitokens: 1_000n, refilledAt: at(0) };
  expect(drawTokens(one, rule, at(0), 30)).toMatchObject({ granted: 1, remaining: 0 });
});

test("a clock that steps back neither refills nor empties", () => {
  const drawn = drawTokens(full, rule, at(0), 15);
  const back = drawTokens(drawn.bucket, rule, at(-10_000), 0);
  expect(back.bucket).toEqual(drawn.bucket);
  expect(drawTokens(back.bucket, rule, at(100), 0).remaining).toBe(6);
});

test("a clock that was set back refills from its new time on", () => {
  const drawn = drawTokens(full, rule, at(86_400_000), 20);
  const back = drawTokens(drawn.bucket, rule, at(0), 1);
  expect(back).toMatchObject({ granted: 0, bucket: { refilledAt: at(0) } });
  expect(drawTokens(back.bucket, rule, at(1_000), 1)).toMatchObject({ granted: 1 });
});

test("a lowered rate applies at once", () => {
  expect(drawTokens(full, { perSecond: 1, burst: 2 }, at(0), 1)).toMatchObject({ granted: 1, remaining: 1 });
});

test("at most rate × (W + 1) + burst requests pass in any window of W seconds, with any number of gateways", () => {
  const ask = fc.record({ waitMs: fc.nat(400), wanted: fc.nat(60), useAfterMs: fc.nat(RATE_LEASE_MS - 1) });
  const rules = fc.record({
    perSecond: fc.integer({ min: 1, max: 50 }),
    burst: fc.integer({ min: 1, max: 100 }),
  });
  fc.assert(
    fc.property(rules, fc.array(ask, { minLength: 1, maxLength: 120 }), (rule, asks) => {
      let bucket: RateBucket = { millitokens: BigInt(rule.burst) * 1000n, refilledAt: at(0) };
      let nowMs = 0;
      const used: { ms: number; count: number }[] = [];
      for (const { waitMs, wanted, useAfterMs } of asks) {
        nowMs += waitMs;
        const draw = drawTokens(bucket, rule, at(nowMs), wanted);
        bucket = draw.bucket;
        used.push({ ms: nowMs + useAfterMs, count: draw.granted });
      }
      used.sort((a, b) => a.ms - b.ms);
      for (const [from, first] of used.entries()) {
        let total = 0;
        for (const { ms, count } of used.slice(from)) {
          total += count;
          const windowSeconds = (ms - first.ms) / 1000;
          expect(total).toBeLessThanOrEqual(
            rule.perSecond * (windowSeconds + RATE_LEASE_MS / 1000) + rule.burst,
          );
        }
      }
    }),
    { numRuns: 300 },
  );
});
