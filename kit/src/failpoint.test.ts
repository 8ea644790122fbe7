import { failpoint, parseFailpoints } from "./failpoint";

describe("failpoints", () => {
  it("are read from a list of names and actions", () => {
    expect([...parseFailpoints("ledger.committed:kill, relay.sent:delay=200,,x:throw,y:hang")]).toEqual([
      ["ledger.committed", { kind: "kill" }],
      ["relay.sent", { kind: "delay", delayMs: 200 }],
      ["x", { kind: "throw" }],
      ["y", { kind: "hang" }],
    ]);
  });

  it.each(["ledger", "ledger:explode", "ledger:kill=3", "ledger:delay", ":kill"])(
    "are refused when unreadable: %s",
    (text) => {
      expect(() => parseFailpoints(text)).toThrow("cannot read");
    },
  );

  it("are inactive outside of a reliability test", async () => {
    await failpoint("anything");
  });
});
