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

  it("throws the check's last error at the timeout", async () => {
    const never = () => {
      throw new Error("never");
    };
    await expect(eventually(never, { timeoutMs: 5, intervalMs: 1 })).rejects.toThrow("never");
  });
});
