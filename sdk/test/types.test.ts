// Compares the library's types with the gateway's OpenAPI document.
import { type Operation, operations } from "./support/document.ts";
import { libraryShapes, shapeOfSchema } from "./support/shapes.ts";

const methods: Record<string, string> = {
  refreshKey: "auth.refreshKey",
  revokeKey: "auth.revokeKey",
  getSession: "auth.getSession",
  createWallet: "wallets.create",
  getWallet: "wallets.get",
  listWallets: "wallets.list",
  updateWallet: "wallets.update",
  deactivateWallet: "wallets.deactivate",
  listWalletTransactions: "wallets.listTransactions",
  createTransfer: "transfers.create",
  getTransfer: "transfers.get",
  listTransfers: "transfers.list",
  createPayout: "payouts.create",
  getPayout: "payouts.get",
  listPayouts: "payouts.list",
  listPayoutRows: "payouts.listRows",
  readStatements: "reports.statements",
  readSettlements: "reports.settlements",
  createCharge: "charges.create",
  cancelCharge: "charges.cancel",
  refundWallet: "charges.refund",
  getRefund: "charges.getRefund",
  getCharge: "charges.get",
  listCharges: "charges.list",
  createPayment: "payments.create",
  cancelPayment: "payments.cancel",
  refundPayment: "payments.refund",
  getPayment: "payments.get",
  listPayments: "payments.list",
  getBalance: "wallets.getBalance",
  listAllTransactions: "wallets.listAllTransactions",
  listRefunds: "charges.listRefunds",
  updateTransfer: "transfers.update",
  updateCharge: "charges.update",
  updateChargeCancellation: "charges.updateCancellation",
  updateRefund: "charges.updateRefund",
  updatePayment: "payments.update",
  updatePaymentCancellation: "payments.updateCancellation",
  updatePaymentRefund: "payments.updateRefund",
  updateTransaction: "transactions.update",
  createTransaction: "transactions.create",
  getTransaction: "transactions.get",
  listTransactions: "transactions.list",
  updateTransactionStatus: "transactions.updateStatus",
  updateTransactionSchedule: "transactions.updateSchedule",
  listEvents: "events.list",
  getEvent: "events.get",
  issueKey: "keys.create",
  listKeys: "keys.list",
  getKey: "keys.get",
  deleteKey: "keys.revoke",
  rotateSecretKey: "keys.rotateSecret",
  createSandboxDeposit: "sandbox.createDeposit",
  holdSandboxSettlement: "sandbox.holdSettlement",
  failSandboxSettlement: "sandbox.failSettlement",
  releaseSandboxSettlement: "sandbox.releaseSettlement",
  expireSandboxKey: "sandbox.expireKey",
  openSandboxClock: "sandbox.readClock",
  advanceSandboxClock: "sandbox.advanceClock",
  createWebhook: "webhooks.create",
  listWebhooks: "webhooks.list",
  getWebhook: "webhooks.get",
  updateWebhook: "webhooks.update",
  deleteWebhook: "webhooks.delete",
  rotateWebhookSecret: "webhooks.rotateSecret",
  testWebhook: "webhooks.test",
  replayWebhook: "webhooks.replay",
  listDeliveries: "webhooks.listDeliveries",
  checkHealth: "checkHealth",
};

/** Deliberate differences between library and document. */
const onPurpose: Record<string, (documented: string) => string> = {
  // A later service has further versions.
  issueKey: (shape) => shape.replace(/apiVersion\?: [^;]+;/, "apiVersion?: string;"),
  // The client's own key is the one to refresh.
  refreshKey: (shape) => shape.replace("apiKey:", "apiKey?:"),
  // The client's network is filled in.
  createTransaction: (shape) => shape.replace(/(from|to)NetworkType:/g, "$1NetworkType?:"),
  // A reason goes with FAILED only.
  updateTransactionStatus: () =>
    '{ failureReason?: string; status: "FAILED" } | { status: "CONFIRMED" | "PENDING" }',
};

/** The library has a type for each type of event, the document one for all. */
const EVENTS = ["listEvents", "getEvent"];

const library = libraryShapes();

test("the library knows the documented types of events", () => {
  const documented = operations.find(({ id }) => id === "getEvent")!.answer.properties!["data"]!;
  const types = (shape: string) => [...new Set(shape.match(/"[a-z_]+\.[a-z_]+"/g))].sort();
  expect(types(library.answer("events.get"))).toEqual(types(shapeOfSchema(documented)));
});

test("every operation has its method", () => {
  expect(Object.keys(methods).sort()).toEqual(operations.map(({ id }) => id).sort());
});

test.each(operations.map((operation) => [operation.id, operation] as const))(
  "%s answers with the documented type",
  (id, { answer }) => {
    if (EVENTS.includes(id)) return;
    expect(library.answer(methods[id]!)).toBe(shapeOfSchema(answer.properties!["data"]!));
  },
);

test.each(operations.filter(({ body }) => body).map((operation) => [operation.id, operation] as const))(
  "%s takes the documented type",
  (id, { body }) => {
    const documented = shapeOfSchema(body!);
    expect(library.request(methods[id]!)).toBe(onPurpose[id]?.(documented) ?? documented);
  },
);

test.each(operations.filter(hasQuery).map((operation) => [operation.id, operation] as const))(
  "%s takes the documented query",
  (id, { parameters }) => {
    const names = parameters.filter(({ in: place }) => place === "query").map(({ name }) => name);
    // A page by number or a cursor, never both: two variants that together have every name.
    const taken = new Set(
      [...library.request(methods[id]!).matchAll(/[{;] (\w+)\??:/g)].map(([, name]) => name),
    );
    expect([...taken].sort()).toEqual(names.sort());
  },
);

function hasQuery({ parameters }: Operation): boolean {
  return parameters.some(({ in: place }) => place === "query");
}
