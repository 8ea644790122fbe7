import { eventually } from "./eventually";

describe("eventually", () => {
  it("returns the check's result once it stops throwing", async () => {
    let calls = 0;
    const check = () => {
      calls += 1;
      if (calls < 3) throw new Error("not yet");
      return calls;
    };
    expect(await eventually(check, { intervalMs: 1 })).toBe(3);
  });

  it("checks rarely after a long wait, unless an interval is given", async () => {
    const countChecks = async (options: { intervalMs?: number }) => {
      let calls = 0;
      const never = () => {
        calls += 1;
        throw new Error("never");
      };
      await eventually(never, { timeoutMs: 600, ...options }).catch(() => undefined);
      return calls;
    };
    const [rare, frequent] = await Promise.all([countChecks({}), countChecks({ intervalMs: 5 })]);
    // Fixed pauses of 20 ms make thirty checks.
    expect(rare).toBeLessThan(27);
    expect(frequent).toBeGreaterThan(rare);
  });

  it("throws the check's last error at the timeout", async () => {
    const never = () => {
      throw new Error("never");
    };
    await expect(eventually(never, { timeoutMs: 5, intervalMs: 1 })).rejects.toThrow("never");
  });
});
