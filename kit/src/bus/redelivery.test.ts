import { createRedelivery } from "./redelivery";

describe("createRedelivery", () => {
  it("waits longer after each failure of a partition, up to a limit", () => {
    const redelivery = createRedelivery(() => 1);
    const pauses = Array.from({ length: 9 }, () => redelivery.failed("a"));
    expect(pauses).toEqual([100, 200, 400, 800, 1_600, 3_200, 6_400, 10_000, 10_000]);
  });

  it("restarts its pauses after progress of the partition, and separates partitions", () => {
    const redelivery = createRedelivery(() => 1);
    redelivery.failed("a");
    redelivery.failed("a");
    expect(redelivery.failed("b")).toBe(100);
    redelivery.done("a");
    expect(redelivery.failed("a")).toBe(100);
  });

  it("spreads the pauses, so that many consumers do not retry at once", () => {
    expect(createRedelivery(() => 0).failed("a")).toBe(50);
  });
});
