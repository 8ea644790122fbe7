import { checkAcknowledged, readsNeeded } from "./acknowledged";
import { type PublicReads } from "./api";
import { collectHistory, type Json, type Operation } from "./operations";
import { simulateRun } from "./testing/simulateRun";

/** A run, and the acknowledged objects as the public API shows them. */
async function shownRun() {
  const { operations } = await collectHistory((await simulateRun(1, 200)).lines);
  const objects = new Map<string, Json>();
  for (const { outcome } of operations) show(objects, outcome?.data);
  return { operations, objects };
}

const LIST_OF: Record<string, string> = {
  ...{ chg: "charge", rfd: "charge/refund", trf: "transfer", pay: "payment" },
};

function readsOf({ operations, objects }: Shown): PublicReads {
  const idOf = (object: Json) => object.refundId ?? object.paymentId ?? object.chargeId ?? object.transferId;
  const listOf = (object: Json) => `/api/wallets/${LIST_OF[idOf(object).slice(0, 3)]}`;
  const needed = readsNeeded(operations);
  const itemsOf = (path: string) => [...objects.values()].filter((object) => path === listOf(object));
  return {
    lists: Object.fromEntries(needed.lists.map((path) => [path, itemsOf(path)])),
    objects: Object.fromEntries(
      needed.objects.map((path) => [path, objects.get(path.split("/").at(-1)!) ?? null]),
    ),
    events: [],
  };
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
  const shown = await shownRun();
  expect(checkAcknowledged(shown.operations, readsOf(shown))).toEqual([]);
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
  const found = checkAcknowledged(shown.operations, readsOf(shown));
  expect(found.map((violation) => violation.message).join("\n")).toContain(message);
});

test("facts without a needed answer are refused, because they cannot show a violation", async () => {
  const { operations } = await shownRun();
  const nothing: PublicReads = { lists: {}, objects: {}, events: [] };
  expect(() => checkAcknowledged(operations, nothing)).toThrow(
    "the facts have no answer to GET /api/wallets",
  );
});
