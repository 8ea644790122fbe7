import { type HistoryLine } from "../history";
import { collectHistory } from "./operations";
import { findUnexpectedErrors } from "./unexpected";

const CALL = { kind: "call", at: 1, operation: 7, client: 1, organisation: "ORG", name: "charge" };
const ANSWER = { kind: "answer", operation: 7, replayed: false };

/** The answers to one charge, in their order. */
async function violationsOf(...answers: [status: number, code: string | null][]) {
  const lines = answers.flatMap(([status, code], index) => [
    { ...CALL, attempt: index + 1, method: "POST", path: "/", key: "k", body: {} },
    { ...ANSWER, at: index + 2, attempt: index + 1, status, body: { data: null, error: code && { code } } },
  ]);
  return findUnexpectedErrors((await collectHistory(lines as HistoryLine[])).operations);
}

test("an outage, an unknown outcome and a refusal are expected", async () => {
  expect(await violationsOf([503, "SYS_002"], [504, "SYS_003"], [400, "CHG_008"])).toEqual([]);
});

test("finds an unexpected error before a success", async () => {
  expect(await violationsOf([500, "SYS_001"], [201, null])).toEqual([
    {
      check: "unexpected",
      organisation: "ORG",
      message: "charge was answered with SYS_001",
      operations: [7],
    },
  ]);
});
