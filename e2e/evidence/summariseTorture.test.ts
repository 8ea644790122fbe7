import { type HistoryLine } from "../torture/history";
import { summariseHistory } from "./summariseTorture";

const call = (operation: number, at: number, attempt = 1): HistoryLine => ({
  ...{ kind: "call", at, operation, attempt, client: 1, organisation: "ACME" },
  ...{ name: "charge", method: "POST", path: "/api/wallets/charge" },
});
const answer = (operation: number, at: number, status = 201): HistoryLine => ({
  ...{ kind: "answer", at, operation, attempt: 1, status, replayed: false, body: {} },
});
const fault = (name: string, phase: "begin" | "end", at: number): HistoryLine => ({
  ...{ kind: "fault", at, fault: name, phase, detail: "ledger-1" },
});

test("an operation is resolved when a later attempt has an answer, and unknown without one", async () => {
  const lost: HistoryLine = { kind: "lost", at: 20, operation: 2, attempt: 1, reason: "timeout" };
  const history = [call(1, 0), answer(1, 5), call(2, 10), lost, call(2, 30, 2), answer(2, 40)];
  const never = [call(3, 50), answer(3, 60, 503)];
  const run = await summariseHistory([...history, ...never], []);
  expect(run).toMatchObject({ operations: 3, resolved: 1, unknown: 1 });
});

test("the longest wait of a kind is of an operation that was open during a fault of it", async () => {
  const history = [
    ...[call(1, 0), fault("service-killed", "begin", 100), answer(1, 300)],
    ...[fault("service-killed", "end", 400), call(2, 500), answer(2, 5_000)],
    ...[fault("service-killed", "begin", 6_000), call(3, 6_100), answer(3, 6_150)],
    ...[fault("postgres-killed", "begin", 6_120)],
  ];
  const { faults, longestWaitMs } = await summariseHistory(history, []);
  expect(faults).toEqual({ "service-killed": 2, "postgres-killed": 1 });
  expect(longestWaitMs).toEqual({ "service-killed": 300, "postgres-killed": 50 });
});
