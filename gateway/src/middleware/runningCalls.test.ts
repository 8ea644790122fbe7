import { createRunningCalls } from "./runningCalls";

test("an organisation at its limit of running requests is refused, and others are not", () => {
  const calls = createRunningCalls(2);
  const end = calls.begin("org_1");
  calls.begin("org_1");
  const refusal = expect.objectContaining({ code: "RATE_001", details: { retryAfterMs: 1000 } });
  expect(() => calls.begin("org_1")).toThrow(refusal);
  calls.begin("org_2");
  end();
  calls.begin("org_1");
  expect(() => calls.begin("org_1")).toThrow(refusal);
});
