import { createAddressLimits } from "./addressLimits";

function start() {
  const clock = { nowMs: 0 };
  const limits = createAddressLimits({ perSecond: 1, burst: 3, monotonicMs: () => clock.nowMs });
  /** Number of requests that pass out of ten simultaneous ones. */
  const countAdmittedOfTen = (address: string): number => {
    let passed = 0;
    for (let come = 0; come < 10; come += 1) {
      try {
        limits.check(address);
      } catch {
        continue;
      }
      limits.take(address);
      passed += 1;
    }
    return passed;
  };
  return { clock, limits, countAdmittedOfTen };
}

test("an address has its burst and then its rate, and saves up at most one burst", () => {
  const { clock, countAdmittedOfTen } = start();
  expect(countAdmittedOfTen("192.0.2.1")).toBe(3);
  expect(countAdmittedOfTen("192.0.2.2")).toBe(3);
  clock.nowMs = 2_000;
  expect(countAdmittedOfTen("192.0.2.1")).toBe(2);
  clock.nowMs = 3_600_000;
  expect(countAdmittedOfTen("192.0.2.1")).toBe(3);
});

test("an overdraft by simultaneous requests is paid back before another request passes", () => {
  const { clock, limits, countAdmittedOfTen } = start();
  for (let come = 0; come < 10; come += 1) limits.check("192.0.2.1");
  for (let come = 0; come < 10; come += 1) limits.take("192.0.2.1");
  expect(countAdmittedOfTen("192.0.2.1")).toBe(0);
  clock.nowMs = 7_000;
  expect(countAdmittedOfTen("192.0.2.1")).toBe(0);
  expect(() => limits.check("192.0.2.1")).toThrow(
    expect.objectContaining({ details: { retryAfterMs: 1_000 } }),
  );
  clock.nowMs = 8_000;
  expect(countAdmittedOfTen("192.0.2.1")).toBe(1);
});

test("the addresses of one IPv6 network share one burst", () => {
  const { countAdmittedOfTen } = start();
  expect(["2001:db8::1", "2001:db8::2", "2001:db8:1::1"].map(countAdmittedOfTen)).toEqual([3, 0, 3]);
});
