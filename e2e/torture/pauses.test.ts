import { type HistoryLine } from "./history";
import { measurePauses } from "./pauses";

const call = (at: number, operation: number, key?: string): HistoryLine => ({
  ...{ kind: "call", at, operation, attempt: 1, client: 0, organisation: "a", name: "charge" },
  ...{ method: "POST", path: "/", ...(key === undefined ? {} : { key }) },
});
const answer = (at: number, operation: number, status = 200): HistoryLine => ({
  ...{ kind: "answer", at, operation, attempt: 1, status, replayed: false, body: {} },
});
const fault = (at: number, name: string, phase: "begin" | "end"): HistoryLine => ({
  ...{ kind: "fault", at, fault: name, phase, detail: "" },
});

test("a pause goes from the last success before a fault to the first one after it", async () => {
  const history = [
    ...[call(0, 1, "k1"), answer(10, 1), fault(12, "leader-lost", "begin"), call(13, 2, "k2")],
    // A refused write and a read do not count.
    ...[answer(20, 2, 503), call(21, 3), answer(30, 3), fault(40, "leader-lost", "end"), answer(50, 2)],
    ...[call(51, 4, "k4"), answer(100, 4)],
  ];
  expect(await measurePauses(history)).toEqual(new Map([["leader-lost", 40]]));
});

test("the pause of the next fault does not count for a fault that ended", async () => {
  const history = [
    ...[call(0, 1, "k"), answer(1, 1), fault(2, "leader-moved", "begin"), answer(3, 1)],
    ...[fault(5, "leader-moved", "end"), fault(8, "leader-lost", "begin"), answer(30, 1)],
  ];
  expect(await measurePauses(history)).toEqual(
    new Map([
      ["leader-moved", 5],
      ["leader-lost", 27],
    ]),
  );
});

test("the longest pause of a kind counts, and a pause belongs to each fault at that time", async () => {
  const history = [
    ...[call(0, 1, "k"), answer(1, 1), fault(2, "etcd-lost", "begin"), answer(3, 1)],
    ...[fault(4, "replica-lost", "begin"), answer(9, 1), fault(9, "etcd-lost", "end"), answer(19, 1)],
  ];
  expect(await measurePauses(history)).toEqual(
    new Map([
      ["etcd-lost", 10],
      ["replica-lost", 10],
    ]),
  );
});
