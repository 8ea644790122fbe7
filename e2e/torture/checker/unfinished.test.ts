import { collectHistory } from "./operations";
import { simulateRun } from "./testing/simulateRun";
import { findUnknownOutcomes } from "./unfinished";

test("an operation without outcome is found, and an unanswered read is not", async () => {
  const { lines } = await simulateRun(3, 40);
  const { operations } = await collectHistory(lines);
  const [read, charge] = ["wallet.get", "charge"].map((name) => operations.find((one) => one.name === name)!);
  const answered = operations.filter(({ outcome }) => outcome !== undefined);
  expect(findUnknownOutcomes(answered)).toEqual([]);
  for (const operation of [read!, charge!]) operation.outcome = undefined;
  expect(findUnknownOutcomes(answered).map((violation) => violation.operations)).toEqual([[charge!.id]]);
});
