import { idTimeMs } from "@wonrail/kit/contract/ids";
import { type RouteDeps, routes } from ".";
import { type Example, story } from "./examples";
import { renderOpenApi } from "./renderOpenApi";

const table = routes({ clients: {}, principals: {} } as RouteDeps);

/** As much of an answer, or of a request's body, as these tests look into. */
interface ExampleContent {
  [field: string]: unknown;
  items?: ExampleContent[];
  settlement?: { status: string; txHash: string | null; blockNumber: number | null };
  createdAt?: string;
  updatedAt?: string;
}
const allExamples = story.map((example) => ({
  ...example,
  body: (example.body ?? {}) as ExampleContent,
  data: example.data as ExampleContent,
}));

function only(
  operation: string,
  name?: string,
): Omit<Example, "body" | "data"> & { body: ExampleContent; data: ExampleContent } {
  const found = allExamples.filter((one) => one.operation === operation && one.name === name);
  expect([operation, found.length]).toEqual([operation, 1]);
  return found[0]!;
}

/** An answer, or each item of a list. */
const answers = allExamples.flatMap(({ operation, at, data }) =>
  (data.items ?? [data]).map((answer) => ({ operation, at, answer })),
);

describe.each(table.map((route) => [route.operation.id, route] as const))("%s", (id, route) => {
  const { params, query, body, data } = route.operation;
  const examples = allExamples.filter(({ operation }) => operation === id);

  test("has examples that match its schemas", () => {
    expect(examples.length).toBeGreaterThan(0);
    for (const example of examples) {
      expect(data.safeParse(example.data).error).toBeUndefined();
      if (params) expect(params.safeParse(example.params).error).toBeUndefined();
      else expect(example.params).toBeUndefined();
      if (query) expect(query.safeParse(example.query).error).toBeUndefined();
      else expect(example.query).toBeUndefined();
      if (body) expect(body.safeParse(example.body).error).toBeUndefined();
      else expect(example.body).toEqual({});
    }
  });

  test("has its examples in the document", () => {
    const documented = operationOf(route.path, route.method);
    const answer = documented.responses[route.operation.status]!.content["application/json"];
    const dataOf = (value: unknown) =>
      route.operation.foreignFormat ? value : (value as { data: unknown }).data;
    expect(valuesOf(answer).map(dataOf)).toEqual(examples.map((example) => example.data));
    if (body) {
      const request = documented.requestBody!.content["application/json"];
      expect(valuesOf(request)).toEqual(examples.map((example) => example.body));
    }
    const inPlaces = { ...examples[0]!.params, ...examples[0]!.query };
    const shown = (documented.parameters ?? []).filter(({ example }) => example !== undefined);
    expect(Object.fromEntries(shown.map(({ name, example }) => [name, example]))).toEqual(inPlaces);
  });
});

test("no schema has an example of its own beside the story's", () => {
  expect(renderOpenApi()).not.toContain('"examples": [');
});

test("examples follow each other in time, and each id carries its creation time", () => {
  expect(story.map(({ at }) => at)).toEqual([...story.map(({ at }) => at)].sort());
  for (const { operation, at, answer } of answers) {
    const moments = [answer.createdAt, answer.updatedAt, at].filter((moment) => moment !== undefined);
    expect([operation, ...moments]).toEqual([operation, ...[...moments].sort()]);
    const name = [
      "deliveryId",
      "payoutId",
      "webhookId",
      "eventId",
      "transferId",
      "chargeId",
      "paymentId",
      "refundId",
      "transactionId",
      "id",
      "cancelId",
      "walletId",
    ].find((field) => field in answer);
    if (answer.createdAt !== undefined)
      expect([operation, idTimeMs(answer[name!] as string)]).toEqual([
        operation,
        Date.parse(answer.createdAt),
      ]);
  }
});

test("a request names only ids and addresses of earlier answers", () => {
  const given = new Set<string>();
  for (const { operation, params, query, body, data } of allExamples) {
    const named = [...idsIn({ params, query, body }), ...ourAddresses({ query, body })];
    expect([operation, named.filter((id) => !given.has(id))]).toEqual([operation, []]);
    for (const id of [...idsIn(data), ...addressesIn(data)]) given.add(id);
  }
  expect(given.size).toBeGreaterThan(15);
});

test("a refreshed key differs from its predecessor, and the session names the predecessor", () => {
  const { body, data } = only("refreshKey");
  expect(data.newApiKey).not.toBe(body.apiKey);
  const { key } = only("getSession").data as unknown as { key: { prefix: string } };
  expect(body.apiKey).toMatch(new RegExp(`^${key.prefix}_`));
});

test("a settlement has its place on the chain once it is confirmed, and not before", () => {
  const settlements = answers.flatMap(({ answer }) => answer.settlement ?? []);
  expect(settlements.length).toBeGreaterThan(10);
  for (const { status, txHash, blockNumber } of settlements) {
    const isPlaced = status === "CONFIRMED";
    expect([txHash !== null, blockNumber !== null]).toEqual([isPlaced, isPlaced]);
  }
});

test("states follow from the operations before them", () => {
  expect(only("cancelPayment").data.status).toBe("CANCELLED");
  const { body, data } = only("cancelCharge");
  expect([data.status, data.cancelledAmount]).toEqual(["PARTIALLY_CANCELLED", body.amount]);
  const { createdAt, cancellableUntil } = only("createCharge").data;
  expect(Date.parse(cancellableUntil as string) - Date.parse(createdAt!)).toBe(30 * 86_400_000);
  expect(only("createCharge").data).toMatchObject({ status: "CHARGED", cancelledAmount: 0 });
  expect(only("deactivateWallet").data.status).toBe("DEACTIVATED");
  expect(only("updateTransactionStatus").data.status).toBe(only("updateTransactionStatus").body.status);
});

test("payer and receiver differ", () => {
  const paid = allExamples.filter(({ operation }) => operation === "createPayment").map(({ body }) => body);
  for (const { payerWalletId, receiverWalletId } of paid) expect(payerWalletId).not.toBe(receiverWalletId);
  const recorded = allExamples
    .filter(({ operation }) => operation === "createTransaction")
    .map(({ body }) => body);
  for (const { fromAddress, toAddress } of recorded) expect(fromAddress).not.toBe(toAddress);
});

test("scheduled times lie more than 20 years ahead", () => {
  for (const { body } of allExamples.filter(({ body: { scheduledAt } }) => scheduledAt !== undefined))
    expect(new Date(body.scheduledAt as string).getUTCFullYear()).toBeGreaterThan(
      new Date().getUTCFullYear() + 20,
    );
  const due = only("updateTransactionSchedule");
  expect(Date.parse(due.data.scheduledAt as string)).toBe(Date.parse(due.body.scheduledAt as string));
});

test("a list holds the items that its query selects, in their order, and counts them", () => {
  // Events and rows of payouts come oldest first, and are not counted.
  const lists = allExamples.filter(
    ({ operation, data }) =>
      data.items !== undefined && !["listEvents", "listPayoutRows"].includes(operation),
  );
  expect(lists).toHaveLength(12);
  for (const { operation, query = {}, data } of lists) {
    const items = data.items!;
    const totalCount = ["listAllTransactions", "listPayouts"].includes(operation) ? null : items.length;
    expect(data.pagination).toMatchObject({ totalCount, hasNext: false });
    const times = items.map(({ createdAt }) => createdAt!);
    const oldestFirst = [...times].sort();
    expect(times).toEqual(query.order === "asc" ? oldestFirst : oldestFirst.reverse());
    for (const item of items)
      expect([operation, wants(query, item)]).toEqual([operation, Object.keys(query).map(() => true)]);
  }
});

test("amounts add up from each answer to the next", () => {
  const { organisation } = only("getSession").data as unknown as {
    organisation: { incentiveRateBps: number };
  };
  const charged = only("createCharge").data;
  let normal = charged.amount as number;
  expect(charged.balance).toBe(normal);
  normal -= only("createTransfer").data.amount as number;
  let incentive = 0;
  for (const name of ["withoutIncentive", "withIncentive"]) {
    const { body, data } = only("createPayment", name);
    const used = Math.min(
      (body.incentiveAmount as number | undefined) ?? Infinity,
      incentive,
      data.amount as number,
    );
    const paid = (data.amount as number) - used;
    expect(data.breakdown).toEqual({ government: 0, incentive: used, normal: paid });
    expect(body.incentiveAmount ?? 0).toBeLessThanOrEqual(incentive);
    normal -= paid;
    const accrued = Math.floor((paid * organisation.incentiveRateBps) / 10_000);
    expect(data.incentiveAccrued).toBe(accrued);
    incentive += accrued - used;
    expect(lineOf(data.paymentId, "PAYMENT")).toMatchObject({ amount: paid, balanceAfter: normal });
  }
  const back = only("cancelPayment").data;
  const { breakdown, incentiveAccrued } = only("createPayment", "withIncentive").data;
  const { incentive: used, normal: paid } = breakdown as { incentive: number; normal: number };
  expect(back).toMatchObject({ restored: { incentive: used, normal: paid }, keptFromNormal: 0 });
  expect(back.incentiveClawedBack).toBe(incentiveAccrued);
  const { restored, incentiveClawedBack, keptFromNormal } = back;
  expect(back.cancellation).toMatchObject({ restored, incentiveClawedBack, keptFromNormal });
  normal += paid;
  expect(lineOf(back.paymentId, "PAYMENT_CANCEL")).toMatchObject({ amount: paid, balanceAfter: normal });
  for (const operation of ["getWallet", "updateWallet"])
    expect(only(operation).data).toMatchObject({ balance: normal, availableBalance: normal });
  normal -= only("cancelCharge").body.amount as number;
  expect([only("cancelCharge").data, only("getCharge").data, ...only("listCharges").data.items!]).toEqual(
    Array(3).fill(expect.objectContaining({ balance: normal })),
  );
  const part = only("refundPayment").data.refund as ExampleContent;
  expect(part).toMatchObject({ amount: 2_000, restored: { normal: 2_000 }, incentiveClawedBack: 20 });
  normal += part.amount as number;
  expect(only("refundWallet").data.amount).toBe(normal);
  expect(only("deactivateWallet").data).toMatchObject({ balance: 0, availableBalance: 0 });
  expect(only("createWallet").data.balance).toBe(0);
});

interface Media {
  example?: unknown;
  examples?: Record<string, { value: unknown }>;
}
interface Documented {
  parameters?: { name?: string; example?: unknown }[];
  requestBody?: { content: { "application/json": Media } };
  responses: Record<string, { content: { "application/json": Media } }>;
}
const { paths } = JSON.parse(renderOpenApi()) as { paths: Record<string, Record<string, Documented>> };

function operationOf(path: string, method: string): Documented {
  return paths[path.replace(/:(\w+)/g, "{$1}")]![method.toLowerCase()]!;
}

function valuesOf({ example, examples }: Media): unknown[] {
  return examples ? Object.values(examples).map(({ value }) => value) : [example];
}

function idsIn(value: unknown): string[] {
  return JSON.stringify(value).match(/\b[a-z]{3}_[0-9a-f]{32}\b/g) ?? [];
}

function addressesIn(value: unknown): string[] {
  return JSON.stringify(value).match(/\b0x[0-9a-fA-F]{40}\b/g) ?? [];
}

/** Addresses of the request that must belong to our wallets. */
function ourAddresses({
  query,
  body,
}: {
  query: Example["query"] | undefined;
  body: ExampleContent;
}): string[] {
  const sender = body.paymentType === "SCHEDULED" ? body.fromAddress : undefined;
  return addressesIn([query?.address, body.toWalletAddress, sender]);
}

function lineOf(paymentId: unknown, type: string): ExampleContent | undefined {
  const { items } = only("listWalletTransactions").data;
  return items!.find((line) => line.relatedId === paymentId && line.type === type);
}

/** For each filter of the query, whether the item passes it. */
function wants(query: Record<string, string>, item: ExampleContent): boolean[] {
  const { walletId, payerWalletId, fromWalletId, fromAddress, toAddress } = item;
  return Object.entries(query).map(([name, value]) => {
    if (name === "from") return Date.parse(item.createdAt!) >= Date.parse(value);
    if (name === "to") return Date.parse(item.createdAt!) < Date.parse(value);
    if (name === "order") return true;
    if (name === "settlementStatus") return item.settlement?.status === value;
    if (name === "type") return value.split(",").includes(item.type as string);
    if (name === "walletId") return [walletId, payerWalletId, fromWalletId].includes(value);
    if (name === "address") return [fromAddress, toAddress].includes(value);
    return item[name] === value;
  });
}
