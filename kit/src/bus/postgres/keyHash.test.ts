import { keyHash } from "./keyHash";

describe("keyHash", () => {
  it("is FNV-1a, for ever: another value would move keys to other partitions", () => {
    expect(keyHash("")).toBe(0x811c9dc5);
    expect(keyHash("a")).toBe(0xe40c292c);
    expect(keyHash("foobar")).toBe(0xbf9cf968);
    expect(keyHash("키")).toBe(keyHash("키"));
  });

  it("spreads ids evenly", () => {
    const counts = new Array<number>(6).fill(0);
    for (let index = 0; index < 6_000; index += 1) {
      counts[keyHash(`wal_0190c5a0${index.toString(16).padStart(24, "0")}`) % 6]! += 1;
    }
    for (const count of counts) expect(Math.abs(count - 1_000)).toBeLessThan(150);
  });
});
