import { type HistoryLine } from "../history";
import { checkKeys } from "./keys";
import { collectHistory, type Json } from "./operations";
import { simulateRun } from "./testing/simulateRun";

const violationsOf = async (lines: HistoryLine[]) => checkKeys((await collectHistory(lines)).operations);

const CHARGED = { chargeId: "chg_1", amount: 1000, settlement: { status: "PENDING" } };
const done = (data: Json, replayed = true) => ({ status: 201, replayed, body: { data, error: null } });
const refused = (code: string, status = 400) => ({
  status,
  replayed: true,
  body: { data: null, error: { code, message: "", details: null } },
});

/** The answers to attempts of one charge. */
function attempts(...answers: Json[]): HistoryLine[] {
  const call = { operation: 1, client: 1, organisation: "ORG", name: "charge", key: "k", body: {} };
  return answers.flatMap((answer, index) => [
    { kind: "call", at: index * 2, attempt: index + 1, method: "POST", path: "/", ...call },
    { kind: "answer", at: index * 2 + 1, operation: 1, attempt: index + 1, ...answer },
  ]) as HistoryLine[];
}

test("the answers of a correct history agree under each key", async () => {
  for (let seed = 1; seed <= 10; seed += 1)
    expect(await violationsOf((await simulateRun(seed, 150)).lines)).toEqual([]);
});

test.each([
  [
    "a success, and its replay with a settlement",
    [done(CHARGED, false), done({ ...CHARGED, settlement: { status: "CONFIRMED" } })],
  ],
  [
    "errors before a success",
    [refused("SYS_003", 504), refused("RATE_001", 429), refused("REQ_002", 409), done(CHARGED, false)],
  ],
  ["a refusal twice", [refused("CHG_008"), refused("CHG_008")]],
  ["an error after a success", [done(CHARGED, false), refused("SYS_002", 503)]],
])("%s is allowed", async (_, answers) => {
  expect(await violationsOf(attempts(...answers))).toEqual([]);
});

test.each([
  ["two successes differ", [done(CHARGED, false), done({ ...CHARGED, amount: 2000 })]],
  ["two successes differ", [done(CHARGED, false), done({ ...CHARGED, chargeId: "chg_2" })]],
  ["a refusal followed a success", [done(CHARGED, false), refused("CHG_008")]],
  ["a success followed a refusal", [refused("CHG_008"), done(CHARGED)]],
  ["two refusals differ", [refused("CHG_008"), refused("WAL_004")]],
  ["two successes are not marked as replayed", [done(CHARGED, false), done(CHARGED, false)]],
  ["a repetition was taken for another request", [done(CHARGED, false), refused("REQ_003", 409)]],
])("finds: %s", async (message, answers) => {
  expect(await violationsOf(attempts(...answers))).toEqual([
    { check: "keys", organisation: "ORG", message: expect.stringContaining(message), operations: [1] },
  ]);
});

test("finds two requests that succeeded under one key", async () => {
  const [first, second] = [attempts(done(CHARGED, false)), attempts(done(CHARGED))];
  const other = second.map((line) => ({
    ...line,
    operation: 2,
    ...(line.kind === "call" && { body: { amount: 2 } }),
  }));
  expect(await violationsOf([...first, ...other] as HistoryLine[])).toEqual([
    expect.objectContaining({
      message: expect.stringContaining("two requests succeeded"),
      operations: [1, 2],
    }),
  ]);
});
