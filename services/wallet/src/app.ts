import { type ActingOperator } from "@wonrail/kit/admin";
import { createClient } from "@wonrail/kit/grpc/client";
import { newId } from "@wonrail/kit/contract/ids";
import { Counter, type Registry } from "@wonrail/kit/metrics";
import { won } from "@wonrail/kit/contract/money";
import { deleteOldKeys } from "@wonrail/kit/idempotency";
import { type ServiceParts } from "@wonrail/kit/service";
import { LedgerServiceService } from "@wonrail/proto/ledger/v1/ledger";
import { createWallet, ensureWallet } from "./commands/createWallet";
import { deactivateWallet } from "./commands/deactivateWallet";
import { deleteOldVelocity } from "./commands/deleteOldVelocity";
import { escrowSeeds } from "./commands/escrowSeeds";
import { finishWallets } from "./commands/finishWallets";
import { type Reentered, reenterLostWallets } from "./commands/reenterLostWallets";
import { beginReopening, reopenWallets } from "./commands/reopenWallets";
import { resealSeeds } from "./commands/resealSeeds";
import { signAuthorizations, type SignDeps } from "./commands/signAuthorizations";
import { skipKeyIndexes } from "./commands/skipKeyIndexes";
import { updateWallet } from "./commands/updateWallet";
import { type Config } from "./config";
import { type Wallet } from "./domain/wallet";
import { openCurve } from "./keys/curve";
import { createKeyring } from "./keys/keyring";
import { folderEscrow } from "./keys/seedEscrow";
import { fileKms } from "@wonrail/kit/kms";
import { typedDataFor } from "./keys/typedData";
import { getWallet, withBalances } from "./queries/getWallet";
import { checkSeals } from "./queries/checkSeals";
import { listWallets } from "./queries/listWallets";
import { getWalletDetails, listSignings, search } from "./queries/operatorViews";
import { findLatestEnd } from "./store/authorizations";
import { findReopening } from "./store/reopenings";
import { findWallet, listWalletsByAddress, listWalletsById } from "./store/wallets";

export type App = ReturnType<typeof createApp>;

/** Table of contents: every command and query, bound to its dependencies. */
export function createApp({ config, db, log, registry, tls, onClose, readOwnTopic }: ServiceParts<Config>) {
  const ledger = createClient(LedgerServiceService, {
    name: "ledger",
    address: config.LEDGER_ADDRESS,
    defaultTimeoutMs: 5_000,
    log,
    registry,
    tls,
  });
  onClose("ledger client", () => ledger.close());

  const curve = openCurve();
  log.info({ backend: curve.backend }, "signing backend");
  const chain = { chainId: BigInt(config.CHAIN_ID), tokenAddress: config.TOKEN_ADDRESS };
  const deps = {
    db,
    ledger,
    log,
    keyring: createKeyring({ kms: fileKms(config.KEK_PATH), curve }),
    escrow: config.SEED_ESCROW_FOLDER === undefined ? null : folderEscrow(config.SEED_ESCROW_FOLDER),
    newWalletId: () => newId("wal"),
    newRequestId: () => newId("req"),
    chain,
    typedData: typedDataFor(chain),
    horizonMs: config.SIGNING_HORIZON_MS,
    limits: {
      walletWon: won(config.SIGNING_LIMIT_WALLET_WON),
      organisationWon: won(config.SIGNING_LIMIT_ORGANISATION_WON),
      globalWon: won(config.SIGNING_LIMIT_GLOBAL_WON),
    },
    refusals: countRefusals(registry),
  };

  return {
    createWallet: bind(createWallet),
    ensureWallet: bind(ensureWallet),
    updateWallet: bind(updateWallet),
    deactivateWallet: bind(deactivateWallet),
    signAuthorizations: bind(signAuthorizations),
    findLatestEnd: (orgId: string, ledgerRef: string) => findLatestEnd(db, orgId, ledgerRef),
    finishWallets: bind(finishWallets),
    reopenWallets: bind(reopenWallets),
    requestReopening: (key: { orgId: string; walletId: string }, operator: ActingOperator) =>
      beginReopening(deps, key, operator),
    async findReopening({ orgId, walletId }: { orgId: string; walletId: string }) {
      return {
        reopening: await findReopening(db, orgId, walletId),
        wallet: await findWallet(db, orgId, walletId),
      };
    },
    search: bind(search),
    getWalletDetails: bind(getWalletDetails),
    listSignings: bind(listSignings),
    signingLimitWon: deps.limits.walletWon,
    checkSeals: () => checkSeals(deps),
    resealSeeds: (operator: ActingOperator) => resealSeeds(deps, operator),
    /** Null without Kafka, which alone keeps lost wallets. */
    async reenterLostWallets(operator: ActingOperator): Promise<Reentered | null> {
      return readOwnTopic === undefined ? null : reenterLostWallets({ ...deps, readOwnTopic }, operator);
    },
    escrowSeeds: (signal: AbortSignal) => escrowSeeds(deps, signal),
    skipKeyIndexes: (operator: ActingOperator) => skipKeyIndexes(deps, operator),
    deleteOldIdempotencyKeys: (signal: AbortSignal) => deleteOldKeys(db, signal),
    deleteOldVelocity: (signal: AbortSignal) => deleteOldVelocity(deps, signal),
    getWallet: bind(getWallet),
    getWalletFacts: (orgId: string, walletIds: string[]) => listWalletsById(db, orgId, walletIds),
    findWalletsByAddress: (orgId: string | null, addresses: string[]) =>
      listWalletsByAddress(db, orgId, addresses),
    listWallets: bind(listWallets),
    withBalances: (wallets: Wallet[]) => withBalances(ledger, wallets),
  };

  function bind<I, O>(work: (of: typeof deps, input: I) => Promise<O>): (input: I) => Promise<O> {
    return (input) => work(deps, input);
  }
}

function countRefusals(registry: Registry): SignDeps["refusals"] {
  const refusals: SignDeps["refusals"] = new Counter({
    name: "signer_refusals_total",
    help: "Refused authorizations, by reason",
    labelNames: ["reason"],
    registers: [registry],
  });
  // An alert needs this series to exist before the first refusal.
  refusals.inc({ reason: "leg_over_limit" }, 0);
  return refusals;
}
