import { coalesce, createClient } from "@wonrail/kit/grpc/client";
import { createLane } from "@wonrail/kit/lane";
import { Counter } from "@wonrail/kit/metrics";
import { type ServiceParts } from "@wonrail/kit/service";
import { AuthServiceService } from "@wonrail/proto/auth/v1/auth";
import { LedgerServiceService } from "@wonrail/proto/ledger/v1/ledger";
import { RelayerServiceService } from "@wonrail/proto/relayer/v1/relayer";
import { WalletServiceService } from "@wonrail/proto/wallet/v1/wallet";
import { claimKeys } from "./commands/claimKeys";
import { closeOperations } from "./commands/closeOperations";
import { deleteOldOperations } from "./commands/deleteOldOperations";
import { execute } from "./commands/execute";
import { createFacts } from "./commands/flows/facts";
import { finishAbandoned } from "./commands/finishAbandoned";
import { type Decided, recordOutcomes } from "./commands/recordOutcomes";
import { recordSettlements } from "./commands/recordSettlements";
import { settleTransfers } from "./commands/settleTransfers";
import { type Config } from "./config";
import { createGauges } from "./metrics/gauges";
import { getCharge } from "./queries/getCharge";
import { getPayment } from "./queries/getPayment";
import { getRefund } from "./queries/getRefund";
import { getTransfer } from "./queries/getTransfer";
import { listCharges } from "./queries/listCharges";
import { listPayments } from "./queries/listPayments";
import { listTransfers } from "./queries/listTransfers";
import { listWalletTransactions } from "./queries/listWalletTransactions";
import { type Claim } from "./store/operations";
import { savePolicy } from "./store/policies";
import { noteMissedSettled } from "./store/transfers";

export type App = ReturnType<typeof createApp>;

const CALL_TIMEOUT_MS = 5_000;
/** Items of one statement or call. A full call must stay below what a server of the kit receives. */
export const MAX_BATCH = 500;
const MAX_QUEUE = 5_000;

/** Table of contents: every command and query, bound to what it needs. */
export function createApp(parts: ServiceParts<Config>) {
  const { config, db, log, registry, onClose } = parts;
  const { ledger, wallet, auth, relayer, post } = openClients(parts);
  const facts = createFacts({
    db,
    log,
    auth,
    wallet,
    network: config.NETWORK,
    contracts: { tokenAddress: config.TOKEN_ADDRESS, paymentManagerAddress: config.PAYMENT_MANAGER_ADDRESS },
    monotonicMs: () => performance.now(),
  });
  const limits = { maxBatch: MAX_BATCH, maxQueue: MAX_QUEUE, registry };
  const deps = {
    db,
    log,
    registry,
    ledger,
    relayer,
    post,
    facts,
    network: config.NETWORK,
    doubted: new Counter({
      name: "payment_doubted_transfers_total",
      help: "Looks at transfers of which the bus has said what chain-relayer does not say",
      registers: [registry],
    }),
    claims: createLane({
      name: "claims",
      work: (claims: Claim[]) => claimKeys(db, claims),
      ownerOf: ({ orgId }) => orgId,
      ...limits,
    }),
    outcomes: createLane({
      name: "outcomes",
      work: (decided: Decided[]) => recordOutcomes({ db, facts }, decided),
      ownerOf: ({ operation }) => operation.orgId,
      ...limits,
    }),
  };
  onClose("claims", () => deps.claims.close());
  onClose("outcomes", () => deps.outcomes.close());
  createGauges(parts);

  return {
    execute: bind(execute),
    finishAbandoned: () => finishAbandoned(deps),
    closeOperations: bind(closeOperations),
    settleTransfers: (signal?: AbortSignal) => settleTransfers(deps, signal),
    noteMissedSettled: () => noteMissedSettled(db),
    deleteOldOperations: bind(deleteOldOperations),
    recordSettlements,
    savePolicy,
    getTransfer: bind(getTransfer),
    listTransfers: bind(listTransfers),
    getCharge: bind(getCharge),
    listCharges: bind(listCharges),
    getRefund: bind(getRefund),
    getPayment: bind(getPayment),
    listPayments: bind(listPayments),
    listWalletTransactions: bind(listWalletTransactions),
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
  const post = coalesce({
    name: "ledger.post",
    bulk: async (items: Parameters<typeof ledger.post>[0][], options) =>
      (await ledger.postBulk({ items }, options)).outcomes,
    unary: ledger.post,
    toItem: (request, context) => ({ ...request, context: { ...context, orgId: request.context!.orgId } }),
    fromAnswer: ({ outcome }) =>
      outcome?.$case === "posted"
        ? { value: outcome.value }
        : { error: outcome?.value ?? { code: "SYS_001" } },
    defaultTimeoutMs: CALL_TIMEOUT_MS,
    maxBatch: MAX_BATCH,
    maxQueue: MAX_QUEUE,
    registry,
  });
  onClose("ledger lane", () => post.close());
  onClose("clients", () => [ledger, wallet, auth, relayer].forEach((client) => client.close()));
  return { ledger, wallet, auth, relayer, post };
}
