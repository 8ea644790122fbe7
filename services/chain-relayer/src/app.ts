import { randomBytes } from "node:crypto";
import { createClient } from "@wonrail/kit/grpc/client";
import { afterCommit, type Tx } from "@wonrail/kit/db";
import { Counter } from "@wonrail/kit/metrics";
import { DomainError } from "@wonrail/kit/contract/errors";
import { hasSandbox } from "@wonrail/kit/contract/networks";
import { createPause } from "@wonrail/kit/pause";
import { type ServiceParts } from "@wonrail/kit/service";
import { AuthServiceService } from "@wonrail/proto/auth/v1/auth";
import { LedgerServiceService } from "@wonrail/proto/ledger/v1/ledger";
import { PaymentServiceService } from "@wonrail/proto/payment/v1/payment";
import { WalletServiceService } from "@wonrail/proto/wallet/v1/wallet";
import { createFaucet, createSigner, openChain, type Provider } from "./evm";
import {
  createRecord,
  createScheduledMetrics,
  finishScheduledRecords,
  FIRST_SENT_PLACE,
  getRecord,
  listRecords,
  runScheduledRecords,
  setClock,
  updateRecordMetadata,
  updateRecordSchedule,
  updateRecordStatus,
  watchInstantRecords,
} from "./records";
import { creditDeposits } from "./deposits";
import {
  assertPaymentManagerAdopted,
  clampFutureRetries,
  correctHeads,
  dispatch,
  expireHolds,
  freezeBlockedWallets,
  getOperations,
  ingestWallet,
  listSettlements,
  type OrderedSettlement,
  orderSettlement,
  recordHeads,
} from "./settlement";
import { pruneSignedBytes, releaseLease } from "./sender";
import { measureChain, measureOperations } from "./metrics/measure";
import { createReconcileGauges, measureBooks, reconcile } from "./reconciliation";
import { createScanSpan, scanFinalized } from "./indexer";
import {
  createX402Metrics,
  depositFromFaucet,
  getSupport,
  settleAndCount,
  verifyAndCount,
  type WantedDeposit,
} from "./x402";
import { type Config } from "./config";
import { consumeFacts } from "./facts";
import { createGauges } from "./metrics/gauges";

export type App = Awaited<ReturnType<typeof createApp>>;

const CALL_TIMEOUT_MS = 10_000;
const CHAIN_WAIT_MS = 1_000;
const GWEI = 1_000_000_000n;

export async function createApp(parts: ServiceParts<Config>, fail: (error: unknown) => void) {
  const deps = createDeps(parts);
  await assertPaymentManagerAdopted(parts.db, parts.config.PAYMENT_MANAGER_ADDRESS);
  const chain = await openCheckedChain(parts, fail);
  const toDispatch = createPause();
  const wakeDispatch = (): void => toDispatch.wake();
  return {
    recordHeads: async (tx: Tx, heads: Parameters<typeof recordHeads>[1]) => {
      await recordHeads(tx, heads);
      afterCommit(tx, wakeDispatch);
    },
    correctHeads: (signal: AbortSignal) => correctHeads(deps, signal),
    dispatch: onChain(dispatch),
    /** Woken when there is something to dispatch. */
    toDispatch,
    scanFinalized: onChain(async (deps, signal) => {
      while (!signal.aborted && (await scanFinalized({ ...deps, consume: consumeFacts(deps), signal })));
    }),
    expireHolds: onChain(expireHolds),
    measureOperations: () => measureOperations(deps),
    measureChain: onChain(measureChain),
    ingestWallet,
    freezeBlockedWallets: (signal: AbortSignal) => freezeBlockedWallets(deps, signal),
    creditDeposits: onChain(creditDeposits),
    reconcile: onChain(reconcile),
    measureBooks: () => measureBooks(deps),
    createRecord: bind(createRecord),
    updateRecordStatus: bind(updateRecordStatus),
    updateRecordMetadata: bind(updateRecordMetadata),
    updateRecordSchedule: bind(updateRecordSchedule),
    getOperations: bind(getOperations),
    listSettlements: bind(listSettlements),
    getRecord: bind(getRecord),
    listRecords: bind(listRecords),
    runScheduledRecords: bind(runScheduledRecords),
    finishScheduledRecords: bind(finishScheduledRecords),
    watchInstantRecords: onChain(watchInstantRecords),
    getX402Support: () => getSupport(deps),
    verifyX402Payment: bindChain(verifyAndCount),
    settleX402Payment: bindChain((of, input: Parameters<typeof settleAndCount>[1]) =>
      settleAndCount({ ...of, onPlanned: wakeDispatch }, input),
    ),
    sandbox: deps.hasSandbox ? sandboxOf() : null,
    clampFutureRetries: () => clampFutureRetries(deps),
    pruneSignedBytes: (signal: AbortSignal) => pruneSignedBytes(deps, signal),
    /** For the operators' methods. */
    admin: {
      db: parts.db,
      network: parts.config.NETWORK,
      signerAddress: deps.signer.address,
      tokenAddress: parts.config.TOKEN_ADDRESS,
      reachChain: (signal: AbortSignal) => chain.reached(signal),
      correctHeads: (signal: AbortSignal) => correctHeads(deps, signal),
    },
  };

  /** The commands of the sandbox. */
  function sandboxOf() {
    return {
      setClock: bind(setClock),
      async orderSettlement(order: OrderedSettlement) {
        const state = await orderSettlement(deps, order);
        wakeDispatch();
        return state;
      },
      depositFromFaucet: bindChain((of, input: WantedDeposit) =>
        depositFromFaucet({ ...of, onPlanned: wakeDispatch }, input),
      ),
    };
  }

  function bind<I, O>(work: (of: typeof deps, input: I) => Promise<O>): (input: I) => Promise<O> {
    return (input) => work(deps, input);
  }

  /** A call of another service, which cannot wait for the chain. */
  function bindChain<I, O>(work: (of: typeof deps & { provider: Provider }, input: I) => Promise<O>) {
    return async (input: I): Promise<O> => {
      const provider = await chain.reached(AbortSignal.timeout(CHAIN_WAIT_MS));
      if (!provider) throw new DomainError("SYS_002");
      return work({ ...deps, provider }, input);
    };
  }

  /**
   * Starts work once the chain is checked, so that it takes no lease or row from other replicas
   * before.
   */
  function onChain<T>(work: (of: typeof deps & { provider: Provider }, signal: AbortSignal) => Promise<T>) {
    return async (signal: AbortSignal): Promise<T | undefined> => {
      const provider = await chain.reached(signal);
      return provider ? work({ ...deps, provider }, signal) : undefined;
    };
  }
}

async function openCheckedChain(parts: ServiceParts<Config>, fail: (error: unknown) => void) {
  const { config, log, registry, onClose } = parts;
  const chain = await openChain({
    urls: config.CHAIN_RPC_URLS,
    timeoutMs: config.CHAIN_RPC_TIMEOUT_MS,
    finality: config.FINALITY,
    chainId: BigInt(config.CHAIN_ID),
    tokenAddress: config.TOKEN_ADDRESS,
    paymentManagerAddress: config.PAYMENT_MANAGER_ADDRESS,
    log,
    registry,
    fail,
  });
  onClose("chain", () => chain.close());
  return chain;
}

function createDeps(parts: ServiceParts<Config>) {
  const { config, db, log, registry } = parts;
  const chain = {
    chainId: BigInt(config.CHAIN_ID),
    tokenAddress: config.TOKEN_ADDRESS,
    paymentManagerAddress: config.PAYMENT_MANAGER_ADDRESS,
    network: config.NETWORK,
  };
  const signer = createSigner(config.OPERATOR_KEY);
  const holder = `relayer-${randomBytes(6).toString("hex")}`;
  // Another replica need not wait for the lease to run out.
  parts.onClose("lease", () => releaseLease(db, signer.address, holder));
  return {
    ...openClients(parts),
    db,
    log,
    registry,
    chain,
    hasSandbox: hasSandbox(config.NETWORK),
    faucet: config.FAUCET_KEY === undefined ? null : createFaucet(config.FAUCET_KEY),
    signer,
    now: Date.now,
    holder,
    leaseMs: config.LEASE_MS,
    maxInFlight: config.MAX_IN_FLIGHT,
    maxSteps: config.MAX_STEPS,
    feeCapWei: BigInt(config.FEE_CAP_GWEI) * GWEI,
    authorizationLifeSeconds: BigInt(Math.floor(config.AUTHORIZATION_LIFE_MS / 1000)),
    outsideLifeMs: config.OUTSIDE_LIFE_MS,
    resendAfterMs: config.RESEND_AFTER_MS,
    replaceAfterMs: config.REPLACE_AFTER_MS,
    headsSeen: new Map<string, string>(),
    headsBumped: new Map<bigint, string>(),
    startBlock: BigInt(config.START_BLOCK),
    scanSpan: createScanSpan(),
    gauges: createGauges(registry, Date.now),
    reconcileEveryMs: config.RECONCILE_EVERY_MS,
    reconcileGauges: createReconcileGauges(registry),
    scheduled: createScheduledMetrics(registry),
    recordLeaseMs: config.RECORD_LEASE_MS,
    x402GasPerDay: BigInt(config.X402_GAS_PER_DAY),
    x402Metrics: createX402Metrics(registry, BigInt(config.X402_GAS_PER_DAY)),
    sentWalk: { after: FIRST_SENT_PLACE },
    bytesWalk: { after: 0n },
    holdsWalk: { after: null },
    lost: new Counter({
      name: "relay_lost_transactions_total",
      help: "Transactions whose nonce another program used",
      registers: [registry],
    }),
  };
}

function openClients({ config, log, registry, tls, onClose }: ServiceParts<Config>) {
  const options = { log, registry, tls, defaultTimeoutMs: CALL_TIMEOUT_MS };
  const auth = createClient(AuthServiceService, { ...options, name: "auth", address: config.AUTH_ADDRESS });
  const wallet = createClient(WalletServiceService, {
    ...options,
    name: "wallet",
    address: config.WALLET_ADDRESS,
  });
  const ledger = createClient(LedgerServiceService, {
    ...options,
    name: "ledger",
    address: config.LEDGER_ADDRESS,
  });
  const payment = createClient(PaymentServiceService, {
    ...options,
    name: "payment",
    address: config.PAYMENT_ADDRESS,
  });
  onClose("clients", () => [auth, wallet, ledger, payment].forEach((client) => client.close()));
  return { auth, wallet, ledger, payment };
}
