import { join } from "node:path";
import { runInContext } from "@wonrail/kit/context";
import { createClient } from "@wonrail/kit/grpc/client";
import { implement } from "@wonrail/kit/grpc/server";
import { newId } from "@wonrail/kit/contract/ids";
import { Registry } from "@wonrail/kit/metrics";
import { createTestDatabase, type TestDatabase, testLog } from "@wonrail/kit/testing";
import { startDying } from "@wonrail/kit/testing/startDying";
import { AuthServiceService, Organisation } from "@wonrail/proto/auth/v1/auth";
import { LedgerServiceService } from "@wonrail/proto/ledger/v1/ledger";
import { WalletServiceService, WalletType } from "@wonrail/proto/wallet/v1/wallet";
import { createFacts } from "./commands/facts";
import { listWalletTransactions } from "./queries/listWalletTransactions";

// A call that may be repeated goes to another replica when the first replica dies in the middle.

const [orgId, walletId, shopId] = [newId("org"), newId("wal"), newId("wal")];
let database: TestDatabase;
let services: Awaited<ReturnType<typeof startDying>>;
let wallet: ReturnType<typeof clientOf<typeof WalletServiceService>>;
let auth: ReturnType<typeof clientOf<typeof AuthServiceService>>;
let ledger: ReturnType<typeof clientOf<typeof LedgerServiceService>>;
const ensured = jest.fn();

beforeAll(async () => {
  database = await createTestDatabase({ schema: "payment", migrations: join(__dirname, "../migrations") });
  const walletType = WalletType.NORMAL;
  const wallets = [
    { walletId, userId: "user", walletType },
    { walletId: shopId, userId: "shop", walletType },
  ];
  const facts = { wallets, deactivatedWalletIds: [] } as never;
  services = await startDying([
    implement(WalletServiceService, {
      findWalletsByAddress: async () => facts,
      getWalletFacts: async () => facts,
      ensureWallet: async (request) => (ensured(request), {}) as never,
    }),
    implement(AuthServiceService, {
      getOrganisation: async () => ({
        organisation: Organisation.fromPartial({
          orgId,
          dailyTransferLimitWon: "1000",
          dailyChargeLimitWon: "5",
          maxChargeWon: "5",
          version: 1n,
        }),
        subscriptionActive: true,
      }),
    }),
    implement(LedgerServiceService, {
      listStatement: async () => ({ lines: [], page: { hasNext: false } }),
    }),
  ]);
  wallet = clientOf(WalletServiceService, "wallet");
  auth = clientOf(AuthServiceService, "auth");
  ledger = clientOf(LedgerServiceService, "ledger");
});
afterAll(async () => {
  for (const client of [wallet, auth, ledger]) client.close();
  await services.close();
  await database.drop();
});

test("facts are looked up at another replica", async () => {
  const deps = { db: database.db, log: testLog(), monotonicMs: () => 0 };
  const facts = createFacts({ ...deps, auth, wallet });
  await inRequest(async () => {
    expect(await facts.walletAt(orgId, "0x1")).toBe(walletId);
    expect(await facts.policyOf(orgId)).toMatchObject({ dailyLimitWon: "1000" });
    await facts.ensureIncentiveWallet(orgId, walletId, shopId);
    expect(ensured).toHaveBeenCalledWith(expect.objectContaining({ orgId, userId: "user" }));
  });
});

test("a wallet's transactions are read from another replica", async () => {
  const wanted = { orgId, walletId, types: [], from: undefined, to: undefined, page: undefined };
  const listed = await inRequest(() =>
    listWalletTransactions({ db: database.db, ledger, network: "N" }, wanted),
  );
  expect(listed.transactions).toEqual([]);
});

function inRequest<T>(work: () => Promise<T>): Promise<T> {
  return runInContext({ requestId: newId("req"), traceparent: "", orgId }, work);
}

function clientOf<D extends Parameters<typeof createClient>[0]>(definition: D, name: string) {
  const registry = new Registry();
  const address = `127.0.0.1:${services.port}`;
  return createClient(definition, { name, address, log: testLog(), registry, defaultTimeoutMs: 15_000 });
}
