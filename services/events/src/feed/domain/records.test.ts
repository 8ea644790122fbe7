import { RecordChanged } from "@wonrail/proto/relayer/events/v1/events";
import { PaymentType, RecordStatus } from "@wonrail/proto/relayer/v1/relayer";
import { type ObjectState } from "./change";
import { recordChanged } from "./records";

const source = { orgId: "org_1", sourceId: "evt_1", occurredAt: new Date(0) };

function message(status: RecordStatus, reasons: string[] = []) {
  const changedAt = new Date(1_000);
  const history = reasons.map((reason) => ({ status, reason, changedBy: "api", changedAt }));
  return RecordChanged.fromPartial({
    record: {
      ...{ id: "rec_1", status, createdAt: new Date(0), updatedAt: new Date(0), history },
      fields: { paymentType: PaymentType.INSTANT, amount: "5" },
    },
  });
}

const typesOf = (status: RecordStatus, before?: ObjectState) => {
  const { types } = recordChanged(source, message(status));
  return typeof types === "function" ? types(before) : types;
};
const reasonsOf = ({ data }: ObjectState) =>
  (data.history as { reason: string }[]).map(({ reason }) => reason);

test("a record's event tells of another status only", () => {
  const pending = recordChanged(source, message(RecordStatus.PENDING)).apply(undefined);
  const confirmed = recordChanged(source, message(RecordStatus.CONFIRMED)).apply(pending);
  expect(typesOf(RecordStatus.PENDING)).toEqual([]);
  expect(typesOf(RecordStatus.CONFIRMED)).toEqual(["transaction.status_changed"]);
  expect(typesOf(RecordStatus.CONFIRMED, pending)).toEqual(["transaction.status_changed"]);
  expect(typesOf(RecordStatus.CONFIRMED, confirmed)).toEqual([]);
  expect(typesOf(RecordStatus.PENDING, confirmed)).toEqual(["transaction.status_changed"]);
});

test("a record keeps its newest hundred changes", () => {
  const first = recordChanged(source, message(RecordStatus.PENDING, ["a", "b"])).apply(undefined)!;
  expect(first).toMatchObject({ data: { id: "rec_1", status: "PENDING", amount: "5" }, failureReason: null });
  expect(reasonsOf(first)).toEqual(["a", "b"]);
  const many = Array.from({ length: 99 }, (_, index) => String(index));
  const next = recordChanged(source, message(RecordStatus.PENDING, many));
  expect(next).toMatchObject({ ...source, objectId: "rec_1" });
  expect(reasonsOf(next.apply(first)!)).toEqual(["b", ...many]);
});
