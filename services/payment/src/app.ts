import { type ActingOperator } from "@wonrail/kit/admin";
import { type Tx } from "@wonrail/kit/db";
import { hasSandbox } from "@wonrail/kit/contract/networks";
import { type SandboxClock } from "@wonrail/kit/contract/sandboxClock";
import { coalesce, createClient } from "@wonrail/kit/grpc/client";
import { Counter } from "@wonrail/kit/metrics";
import { type ServiceParts } from "@wonrail/kit/service";
import { AuthServiceService, type Organisation } from "@wonrail/proto/auth/v1/auth";
import { LedgerServiceService, type PostRequest } from "@wonrail/proto/ledger/v1/ledger";
import { RelayerServiceService } from "@wonrail/proto/relayer/v1/relayer";
import { WalletServiceService } from "@wonrail/proto/wallet/v1/wallet";
import { postBytes } from "./domain/postBytes";
import { createPayout } from "./commands/createPayout";
import { execute } from "./commands/execute";
import { createFacts } from "./commands/facts";
import { policyFrom } from "./commands/policyOf";
import { projectJournal } from "./commands/projectJournal";
import { projectSettlements } from "./commands/projectSettlements";
import { rebuildRecords } from "./commands/rebuildRecords";
import { requestRebuild } from "./commands/requestRebuild";
import { runPayouts } from "./commands/runPayouts";
import { settleTransfers } from "./commands/settleTransfers";
import { updateMetadata } from "./commands/updateMetadata";
import { type Config } from "./config";
import { createCommandMetrics } from "./metrics/commandMetrics";
import { createProjectionMetrics } from "./metrics/projectionMetrics";
import { getBalanceAt } from "./queries/getBalanceAt";
import { getCharge } from "./queries/getCharge";
import { getPayment } from "./queries/getPayment";
import { getPayout, listPayoutRows, listPayouts } from "./queries/getPayout";
import { getRefund } from "./queries/getRefund";
import { getTransfer } from "./queries/getTransfer";
import { listCharges } from "./queries/listCharges";
import { listPayments } from "./queries/listPayments";
import { listRefunds } from "./queries/listRefunds";
import { listTransactions } from "./queries/listTransactions";
import { listTransfers } from "./queries/listTransfers";
import { getOverview, search } from "./queries/operatorViews";
import { listWalletTransactions } from "./queries/listWalletTransactions";
import { readStatement } from "./queries/readStatement";
import { savePolicy } from "./store/policies";
import { findRebuild } from "./store/rebuilds";
import { markMissedSettled } from "./store/transfers";

export type App = ReturnType<typeof createApp>;

const CALL_TIMEOUT_MS = 5_000;
/** Items of one call to the ledger. */
const MAX_BATCH = 500;
const MAX_QUEUE = 5_000;

/** Table of contents: every command and query, bound to its dependencies. */
export function createApp(parts: ServiceParts<Config>) {
  const { config, db, log, registry } = parts;
  const { ledger, wallet, auth, relayer, post } = openClients(parts);
  const deps = {
    ...{ db, log, ledger, relayer, post },
    network: config.NETWORK,
    contracts: { tokenAddress: config.TOKEN_ADDRESS, paymentManagerAddress: config.PAYMENT_MANAGER_ADDRESS },
    facts: createFacts({ db, log, auth, wallet, monotonicMs: () => performance.now() }),
    metrics: createCommandMetrics(registry),
    mismatches: new Counter({
      name: "payment_settlement_mismatches_total",
      help: "Checks that found an event and chain-relayer in disagreement about a transfer",
      registers: [registry],
    }),
  };

  return {
    metrics: { projections: createProjectionMetrics(parts) },
    execute: bind(execute),
    settleTransfers: (signal?: AbortSignal) => settleTransfers(deps, signal),
    markMissedSettled: () => markMissedSettled(db),
    requestRebuild: (operator: ActingOperator) => requestRebuild(deps, operator),
    findRebuild: (id: bigint) => findRebuild(db, id),
    rebuildRecords: (signal?: AbortSignal) => rebuildRecords(deps, signal),
    projectJournal,
    projectSettlements,
    savePolicy: (tx: Tx, orgId: string, organisation: Organisation) =>
      savePolicy(tx, policyFrom(orgId, organisation)),
    getTransfer: bind(getTransfer),
    listTransfers: bind(listTransfers),
    updateMetadata: bind(updateMetadata),
    getCharge: bind(getCharge),
    listCharges: bind(listCharges),
    getRefund: bind(getRefund),
    listRefunds: bind(listRefunds),
    getPayment: bind(getPayment),
    listPayments: bind(listPayments),
    listWalletTransactions: bind(listWalletTransactions),
    listTransactions: bind(listTransactions),
    getBalanceAt: bind(getBalanceAt),
    getOverview: () => getOverview(deps),
    search: bind(search),
    readStatement: bind(readStatement),
    createPayout: bind(createPayout),
    runPayouts: (signal?: AbortSignal) => runPayouts(deps, signal),
    getPayout: bind(getPayout),
    listPayouts: bind(listPayouts),
    listPayoutRows: bind(listPayoutRows),
    sandbox: hasSandbox(config.NETWORK)
      ? {
          /** A repetition changes nothing. */
          setClock: ({ orgId, offsetMs }: SandboxClock) =>
            ledger.setSandboxClock({ orgId, offsetMs: BigInt(offsetMs) }, { retry: true }),
        }
      : null,
  };

  function bind<I, O>(work: (of: typeof deps, input: I) => Promise<O>): (input: I) => Promise<O> {
    return (input) => work(deps, input);
  }
}

function openClients({ config, log, registry, tls, onClose }: ServiceParts<Config>) {
  const options = { log, registry, tls, defaultTimeoutMs: CALL_TIMEOUT_MS };
  const ledger = createClient(LedgerServiceService, {
    ...options,
    name: "ledger",
    address: config.LEDGER_ADDRESS,
  });
  const wallet = createClient(WalletServiceService, {
    ...options,
    name: "wallet",
    address: config.WALLET_ADDRESS,
  });
  const auth = createClient(AuthServiceService, { ...options, name: "auth", address: config.AUTH_ADDRESS });
  const relayer = createClient(RelayerServiceService, {
    ...options,
    name: "chain-relayer",
    address: config.RELAYER_ADDRESS,
  });
  // A refusal is a value here and not an error, because `replayed` belongs to it.
  const post = coalesce({
    name: "ledger.post",
    bulk: async (items: PostRequest[], options) => (await ledger.postBulk({ items }, options)).outcomes,
    unary: async (item: PostRequest, options) =>
      (await ledger.postBulk({ items: [item] }, options)).outcomes[0]!,
    toItem: (request, context) => ({ ...request, context: { ...context, orgId: request.context!.orgId } }),
    fromAnswer: (outcome) => ({ value: outcome }),
    defaultTimeoutMs: CALL_TIMEOUT_MS,
    maxBatch: MAX_BATCH,
    bytesOf: postBytes,
    maxQueue: MAX_QUEUE,
    registry,
  });
  onClose("ledger queue", () => post.close());
  onClose("clients", () => [ledger, wallet, auth, relayer].forEach((client) => client.close()));
  return { ledger, wallet, auth, relayer, post };
}
