import { describeViolations } from "./report";
import { simulateRun } from "./testing/simulateRun";

test("a violation is shown with the lines of its operations", async () => {
  const { lines } = await simulateRun(1, 20);
  const violation = { check: "keys", organisation: "ORG", message: "two successes differ", operations: [3] };
  const own = lines.filter((line) => "operation" in line && line.operation === 3);
  const text = await describeViolations([violation], lines);
  expect(text.split("\n")).toEqual([
    "keys (ORG): two successes differ",
    ...own.map((line) => `    ${JSON.stringify(line)}`),
  ]);
});
