import { eventually } from "./eventually";

describe("eventually", () => {
  it("gives what the check returned once it stopped throwing", async () => {
    let calls = 0;
    const check = () => {
      calls += 1;
      if (calls < 3) throw new Error("not yet");
      return calls;
    };
    expect(await eventually(check, { intervalMs: 1 })).toBe(3);
  });

  it("throws the check's last error when the time is over", async () => {
    const never = () => {
      throw new Error("never");
    };
    await expect(eventually(never, { timeoutMs: 5, intervalMs: 1 })).rejects.toThrow("never");
  });
});
