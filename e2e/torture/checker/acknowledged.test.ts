import { checkAcknowledged } from "./acknowledged";
import { type Reader } from "./api";
import { collectHistory, type Json, type Operation } from "./operations";
import { simulateRun } from "./testing/simulateRun";

/** A reader that shows every acknowledged object. */
async function shownRun() {
  const { operations } = await collectHistory((await simulateRun(1, 200)).lines);
  const objects = new Map<string, Json>();
  const listOf: Record<string, string> = {
    chg: "charge",
    rfd: "charge/refund",
    trf: "transfer",
    pay: "payment",
  };
  for (const { outcome } of operations) show(objects, outcome?.data);
  const idOf = (object: Json) => object.refundId ?? object.paymentId ?? object.chargeId ?? object.transferId;
  const reader: Reader = {
    get: async (path) => objects.get(path.split("/").at(-1)!) ?? null,
    list: async (path) =>
      [...objects.values()].filter((object) => path === `/api/wallets/${listOf[idOf(object).slice(0, 3)]}`),
    events: async () => [],
  };
  return { operations, objects, reader };
}

function show(objects: Map<string, Json>, data: Json): void {
  if (data?.paymentId) {
    const before = objects.get(data.paymentId) ?? { ...data, cancellation: null, refunds: [] };
    if (data.cancelId) before.cancellation = { cancelId: data.cancelId };
    if (data.refundId) before.refunds.push({ refundId: data.refundId });
    const { refundId: _, cancelId: __, ...payment } = before;
    objects.set(data.paymentId, payment);
  } else if (data?.chargeId) {
    const before = objects.get(data.chargeId) ?? { ...data, cancellations: [], cancelledAmount: 0 };
    if (data.cancelId) before.cancellations.push({ cancelId: data.cancelId });
    before.cancelledAmount = Math.max(before.cancelledAmount, data.cancelledAmount);
    objects.set(data.chargeId, before);
  } else if (data?.transferId ?? data?.refundId) objects.set(data.transferId ?? data.refundId, { ...data });
}

test("objects that are shown as they were acknowledged pass", async () => {
  const { operations, reader } = await shownRun();
  expect(await checkAcknowledged(operations, reader)).toEqual([]);
});

type Shown = Awaited<ReturnType<typeof shownRun>>;
const firstOf = (operations: Operation[], name: string) =>
  operations.find((operation) => operation.name === name && operation.outcome?.status === 201)!.outcome!.data;

test.each<[string, (shown: Shown) => unknown, string]>([
  [
    "a lost charge",
    ({ objects, operations }) => objects.delete(firstOf(operations, "charge").chargeId),
    "in no list",
  ],
  [
    "another amount",
    ({ objects, operations }) => (objects.get(firstOf(operations, "transfer").transferId).amount += 1),
    "another amount",
  ],
  [
    "a lost cancellation",
    ({ objects, operations }) =>
      objects.get(firstOf(operations, "charge.cancel").chargeId).cancellations.pop(),
    "is not in its charge",
  ],
  [
    "a cancelled amount that went back",
    ({ objects, operations }) =>
      (objects.get(firstOf(operations, "charge.cancel").chargeId).cancelledAmount = 0),
    "less cancelled",
  ],
  [
    "a lost refund of a payment",
    ({ objects, operations }) => (objects.get(firstOf(operations, "payment.refund").paymentId).refunds = []),
    "is not in its payment",
  ],
])("%s is found", async (_, plant, message) => {
  const shown = await shownRun();
  plant(shown);
  const found = await checkAcknowledged(shown.operations, shown.reader);
  expect(found.map((violation) => violation.message).join("\n")).toContain(message);
});
