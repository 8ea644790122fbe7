import { DomainError } from "@wonrail/kit/contract/errors";
import { implement } from "@wonrail/kit/grpc/server";
import { eventually } from "@wonrail/kit/testing";
import { startDying } from "@wonrail/kit/testing/startDying";
import { type ExecuteRequest, PaymentServiceService } from "@wonrail/proto/payment/v1/payment";
import { RelayerServiceService } from "@wonrail/proto/relayer/v1/relayer";
import { WalletServiceService } from "@wonrail/proto/wallet/v1/wallet";
import { exampleId } from "./routes/exampleFixtures";
import { type FakeAuthServer, startFakeAuthServer } from "./testing/fakeAuthServer";
import { startGateway, type TestGateway } from "./testing/startGateway";

let auth: FakeAuthServer;
let services: Awaited<ReturnType<typeof startDying>>;
let gateway: TestGateway;
/** The commands that reached the payment service. */
const executed: ExecuteRequest[] = [];
/** Error that the service answers with after its first lost answer. */
let fails: DomainError | undefined;

beforeAll(async () => {
  auth = await startFakeAuthServer();
  const refuse = (code: ConstructorParameters<typeof DomainError>[0]) => async () => {
    throw fails ?? new DomainError(code);
  };
  const answer = async () => {
    if (fails) throw fails;
    const page = { hasNext: false, nextCursor: undefined, totalCount: 0 };
    return { wallets: [], transfers: [], charges: [], payments: [], transactions: [], records: [], page };
  };
  services = await startDying([
    implement(WalletServiceService, {
      ...{ getWallet: refuse("WAL_002"), listWallets: answer, updateWallet: refuse("WAL_002") },
    }),
    implement(PaymentServiceService, {
      ...{ getTransfer: refuse("TRF_005"), getCharge: refuse("CHG_002"), getPayment: refuse("PAY_004") },
      getRefund: refuse("CHG_002"),
      // The first call of each breaks its connection before it arrives here.
      executeBulk: async () => ({ items: [] }),
      execute: async (request) => {
        executed.push(request);
        return { replayed: false, outcome: { $case: "error", value: { code: "PAY_001" } } };
      },
      ...{ listTransfers: answer, listCharges: answer, listPayments: answer, listWalletTransactions: answer },
    }),
    implement(RelayerServiceService, { getRecord: refuse("TX_001"), listRecords: answer }),
  ]);
  gateway = await startGateway({ authPort: auth.port, servicesPort: services.port });
  await eventually(() => gateway.ready());
});

afterAll(async () => {
  await gateway.close();
  await services.close();
  await auth.close();
});

beforeEach(() => (fails = undefined));

const reads = [
  ["/api/wallets", 200],
  [`/api/wallets/${exampleId("wal")}`, 404],
  [`/api/wallets/${exampleId("wal")}/transactions`, 200],
  ["/api/wallets/transfer", 200],
  [`/api/wallets/transfer/${exampleId("trf")}`, 404],
  ["/api/wallets/charge", 200],
  [`/api/wallets/charge/${exampleId("chg")}`, 404],
  [`/api/wallets/charge/refund/${exampleId("rfd")}`, 404],
  ["/api/wallets/payment", 200],
  [`/api/wallets/payment/${exampleId("pay")}`, 404],
  ["/api/transaction", 200],
  [`/api/transaction/${exampleId("txn")}`, 404],
] as const;

test.each(reads)(
  "GET %s is asked of another replica when one dies in the middle of it",
  async (path, status) => {
    const answer = await gateway.send("GET", path, { key: auth.addKey().text });
    expect(answer.status).toBe(status);
  },
);

test.each(reads)("GET %s without an answer is reported as not executed", async (path) => {
  fails = new DomainError("SYS_003");
  const { status, headers, body } = await gateway.send("GET", path, { key: auth.addKey().text });
  expect([status, body.error?.code, headers["retry-after"]]).toEqual([503, "SYS_002", "1"]);
});

test("a payment with a key is retried at another replica when one dies during it", async () => {
  const order = { payerWalletId: exampleId("wal"), receiverWalletId: exampleId("wal"), amount: 600 };
  const pay = (headers: Record<string, string>) =>
    gateway.send("POST", "/api/wallets/payment", { key: auth.addKey().text, body: order, headers });
  const { status, body } = await pay({ "Idempotency-Key": "order 1" });
  expect([status, body.error?.code]).toEqual([400, "PAY_001"]);
  expect(executed.map(({ idempotencyKey }) => idempotencyKey)).toEqual(["order 1"]);
});

test("a write is not retried, and its outcome stays unknown", async () => {
  const update = { key: auth.addKey().text, body: { metadata: {} } };
  const { status, body } = await gateway.send("PATCH", `/api/wallets/${exampleId("wal")}`, update);
  expect([status, body.error?.code]).toEqual([504, "SYS_003"]);
});
