import { randomUUID } from "node:crypto";
import { newId } from "@wonrail/kit/contract/ids";
import { AuthServiceService, Quota } from "@wonrail/proto/auth/v1/auth";
import { AccountType, TransactionType } from "@wonrail/proto/ledger/v1/intents";
import { LedgerServiceService } from "@wonrail/proto/ledger/v1/ledger";
import { PaymentServiceService } from "@wonrail/proto/payment/v1/payment";
import {
  type OperationRef,
  PaymentType,
  RecordStatus,
  RelayerServiceService,
} from "@wonrail/proto/relayer/v1/relayer";
import {
  AuthorizationKind,
  WalletServiceService,
  WalletStatus,
  WalletType,
} from "@wonrail/proto/wallet/v1/wallet";
import { calls, type Call, choice } from "./callRows";
import { EVENT_CALLS } from "./eventCalls";
import { FEED_CALLS } from "./feedCalls";
import { PAYMENT_CALLS } from "./paymentCalls";
import { SANDBOX_CALLS } from "./sandboxCalls";
import { X402_CALLS } from "./x402Calls";
import { CHAIN } from "./services";
import { contextOf, executeRequest, makeWallet, recordRequest, transferCommand, TRANSFER_WON } from "./story";

const REPLICA = "gateway-1";
const CLIENT_ADDRESS = "192.0.2.1";
const PAGE = { limit: 20, position: choice("currentPage", 1) };
const LONG_PAGE = { ...PAGE, limit: 101 };
const TOO_MANY = Array<string>(1_001).fill(newId("wal"));

export const CALLS: readonly Call[] = [
  ...calls("gateway", "auth", AuthServiceService, {
    resolveKey: {
      good: ({ key }) => ({ key, clientAddress: CLIENT_ADDRESS }),
      bad: ["REQ_001 key", (good) => ({ ...good, key: undefined })],
    },
    refreshKey: {
      good: ({ key, secretKey }) => ({ key, secretKey, clientAddress: CLIENT_ADDRESS }),
      bad: ["REQ_001 key", (good) => ({ ...good, key: { ...good.key!, keyHash: Buffer.alloc(31) } })],
    },
    issueKey: {
      good: ({ orgId, keyId }) => ({
        ...{ orgId, issuerKeyId: keyId, name: "shop", scopes: ["payments:write"] },
        ...{ allowedAddresses: ["203.0.113.0/24"], apiVersion: "2026-01-01", clientAddress: CLIENT_ADDRESS },
      }),
      bad: ["REQ_001 scopes", (good) => ({ ...good, scopes: ["everything"] })],
    },
    getKey: {
      good: ({ orgId, keyId }) => ({ orgId, keyId }),
      bad: ["WAUTH_007", (good) => ({ ...good, keyId: newId("key") })],
    },
    listKeys: {
      good: ({ orgId }) => ({ orgId, page: PAGE }),
      bad: ["REQ_001 limit", (good) => ({ ...good, page: LONG_PAGE })],
    },
    revokeKey: {
      good: ({ other }) => ({ ...other, clientAddress: CLIENT_ADDRESS }),
      bad: ["REQ_001 keyId", (good) => ({ ...good, keyId: good.orgId })],
    },
    rotateSecretKey: {
      good: ({ third }) => ({ ...third, clientAddress: CLIENT_ADDRESS }),
      bad: ["REQ_001 keyId", (good) => ({ ...good, keyId: good.orgId })],
    },
    getSession: {
      good: ({ orgId, keyId }) => ({ orgId, keyId }),
      bad: ["REQ_001 orgId", (good) => ({ ...good, orgId: "" })],
    },
    leaseRate: {
      good: ({ orgId }) => ({ orgId, replicaId: REPLICA, wanted: 10 }),
      bad: ["REQ_001 wanted", (good) => ({ ...good, wanted: 1_000_001 })],
    },
    leaseQuota: {
      good: ({ orgId }) => ({
        ...{ orgId, quota: Quota.WALLETS, replicaId: REPLICA },
        ...{ wanted: 5, leaseId: randomUUID(), accounts: [] },
      }),
      bad: ["REQ_001 quota", (good) => ({ ...good, quota: Quota.UNSPECIFIED })],
    },
    watchChanges: { good: () => ({ replicaId: REPLICA }), bad: null },
  }),

  ...calls("gateway", "wallet", WalletServiceService, {
    createWallet: {
      good: ({ orgId }) => {
        const wish = { userId: randomUUID(), walletType: WalletType.NORMAL, metadata: { tier: "gold" } };
        return { orgId, ...wish, idempotencyKey: randomUUID(), bodyHash: Buffer.alloc(32) };
      },
      bad: ["REQ_001 userId", (good) => ({ ...good, userId: "" })],
    },
    getWallet: {
      good: ({ orgId, payer: { walletId } }) => ({ orgId, walletId }),
      bad: ["WAL_002", (good) => ({ ...good, walletId: newId("wal") })],
    },
    listWallets: {
      good: ({ orgId, payer: { userId } }) => {
        return { orgId, userId, walletType: WalletType.NORMAL, status: WalletStatus.ACTIVE, page: PAGE };
      },
      bad: ["REQ_001 limit", (good) => ({ ...good, page: LONG_PAGE })],
    },
    updateWallet: {
      good: ({ orgId, payer: { walletId } }) => ({ orgId, walletId, metadata: { tier: "silver" } }),
      bad: ["REQ_001 metadata.tier", (good) => ({ ...good, metadata: { tier: "x".repeat(501) } })],
    },
    deactivateWallet: {
      good: async ({ gateway, orgId }) => ({ orgId, walletId: (await makeWallet(gateway, orgId)).walletId }),
      bad: ["WAL_002", (good) => ({ ...good, orgId: newId("org") })],
    },
  }),

  ...PAYMENT_CALLS,

  ...EVENT_CALLS,
  ...calls("gateway", "chain-relayer", RelayerServiceService, {
    createRecord: {
      good: ({ orgId, payer, payee }) => recordRequest(orgId, payer, payee),
      bad: ["REQ_001 amount", (good) => ({ ...good, fields: { ...good.fields!, amount: "1.5" } })],
    },
    getRecord: {
      good: ({ orgId, recordId: id }) => ({ orgId, id }),
      bad: ["TX_001", (good) => ({ ...good, id: newId("txn") })],
    },
    listRecords: {
      good: ({ orgId, payer: { address } }) => ({
        ...{ orgId, address, page: PAGE },
        ...{ status: RecordStatus.PENDING, paymentType: PaymentType.SCHEDULED },
      }),
      bad: ["REQ_001 address", (good) => ({ ...good, address: "0x" })],
    },
    updateRecordStatus: {
      good: async ({ gateway, orgId, payer, payee }) => {
        const { record } = await gateway.relayer.createRecord(recordRequest(orgId, payer, payee));
        return { orgId, id: record!.id, status: RecordStatus.FAILED, failureReason: "called off" };
      },
      bad: ["REQ_001 failureReason", (good) => ({ ...good, status: RecordStatus.CONFIRMED })],
    },
    updateRecordMetadata: {
      good: ({ orgId, recordId: id }) => ({ orgId, id, set: { till: "1" }, remove: [] }),
      bad: ["REQ_001 metadata.k", (good) => ({ ...good, set: { k: "v".repeat(501) } })],
    },
    updateRecordSchedule: {
      good: ({ orgId, recordId: id }) => ({ orgId, id, scheduledAt: new Date(Date.now() + 3_600_000) }),
      bad: ["REQ_001 scheduledAt", (good) => ({ ...good, scheduledAt: new Date(0) })],
    },
  }),

  ...calls("payment", "ledger", LedgerServiceService, {
    post: {
      good: ({ orgId, payer: { walletId } }) => ({
        ...{ context: contextOf(orgId), requestId: newId("chg"), metadata: {} },
        intent: choice("charge", {
          walletId,
          amountWon: "1000",
          dailyLimitWon: "1000000000",
          maxChargeWon: "1000000000",
        }),
      }),
      bad: ["REQ_001 requestId", (good) => ({ ...good, requestId: "chg_1" })],
    },
    postBulk: {
      good: ({ orgId, payer, payee }) => {
        const legs = { fromWalletId: payer.walletId, toWalletId: payee.walletId };
        const value = {
          ...legs,
          toAddress: payee.address,
          amountWon: TRANSFER_WON,
          dailyLimitWon: "5000000",
        };
        const intent = choice("transfer", value);
        return { items: [{ context: contextOf(orgId), requestId: newId("trf"), metadata: {}, intent }] };
      },
      // An intent that payment may not post.
      bad: [
        "REQ_001 intent",
        ({ items: [item] }) => {
          const value = { walletId: newId("wal"), userId: "kim", type: AccountType.NORMAL };
          return { items: [{ ...item!, intent: choice("openAccount", value) }] };
        },
      ],
    },
    readStatement: {
      good: ({ orgId, payer: { walletId: accountId } }) => ({
        ...{ orgId, accountId, from: new Date(0), to: new Date(), limit: 10 },
      }),
      bad: ["REQ_001 limit", (good) => ({ ...good, limit: 1_001 })],
    },
    postTogether: {
      good: ({ orgId, payer, payee }) => {
        const legs = { fromWalletId: payer.walletId, toWalletId: payee.walletId };
        const limits = { amountWon: TRANSFER_WON, dailyLimitWon: "5000000" };
        const intent = choice("transfer", { ...legs, ...limits, toAddress: payee.address });
        const item = { context: contextOf(orgId), requestId: newId("trf"), metadata: {}, intent };
        return { items: [item], dryRun: true };
      },
      bad: ["REQ_001 items", (good) => ({ ...good, items: [] })],
    },
    listLines: {
      good: ({ orgId }) => ({ orgId, types: [TransactionType.CHARGE], oldestFirst: false, limit: 10 }),
      bad: ["REQ_001 limit", (good) => ({ ...good, limit: 1_001 })],
    },
    getBalanceAt: {
      good: ({ orgId, payer: { walletId: accountId } }) => ({ orgId, accountId, at: new Date() }),
      bad: ["REQ_001 at", (good) => ({ ...good, at: undefined })],
    },
    listStatement: {
      good: ({ orgId, payer: { walletId: accountId } }) => {
        return { orgId, accountId, types: [TransactionType.CHARGE], page: PAGE };
      },
      bad: ["REQ_001 types", (good) => ({ ...good, types: [TransactionType.UNSPECIFIED] })],
    },
    findByKey: {
      good: ({ orgId }) => ({ orgId, scope: "PAY", key: "never used" }),
      bad: ["REQ_001 orgId", (good) => ({ ...good, orgId: "acme" })],
    },
    getEntries: {
      good: ({ orgId, transferId }) => ({ orgId, requestIds: [transferId] }),
      bad: ["REQ_001 requestIds", (good) => ({ ...good, requestIds: TOO_MANY })],
    },
    listJournal: {
      good: ({ orgId }) => ({ orgId, afterSequence: 0n, limit: 10 }),
      bad: ["REQ_001 limit", (good) => ({ ...good, limit: 501 })],
    },
    listJournalHeads: {
      good: () => ({ afterOrgId: undefined, limit: 10 }),
      bad: ["REQ_001 afterOrgId", (good) => ({ ...good, afterOrgId: "acme" })],
    },
  }),

  ...calls("payment", "wallet", WalletServiceService, {
    getWalletFacts: {
      good: ({ orgId, payer: { walletId } }) => ({ orgId, walletIds: [walletId] }),
      bad: ["REQ_001 walletIds", (good) => ({ ...good, walletIds: TOO_MANY })],
    },
    ensureWallet: {
      good: ({ orgId, payee: { userId } }) => ({ orgId, userId, walletType: WalletType.INCENTIVE }),
      bad: ["REQ_001 walletType", (good) => ({ ...good, walletType: WalletType.UNSPECIFIED })],
    },
    findWalletsByAddress: {
      good: ({ orgId, payee: { address } }) => ({ orgId, addresses: [address] }),
      bad: ["REQ_001 addresses", (good) => ({ ...good, addresses: TOO_MANY })],
    },
  }),

  ...calls("payment", "auth", AuthServiceService, {
    getOrganisation: {
      good: ({ orgId: value }) => ({ by: choice("orgId", value) }),
      bad: ["REQ_001 by", () => ({ by: undefined })],
    },
  }),

  ...calls("payment", "chain-relayer", RelayerServiceService, {
    getOperations: {
      good: ({ orgId, transferId: ledgerRef }) => ({ refs: [{ orgId, ledgerRef }] }),
      bad: ["REQ_001 refs", ({ refs: [ref] }) => ({ refs: Array<OperationRef>(1_001).fill(ref!) })],
    },
    listSettlements: {
      good: ({ orgId }) => ({ orgId, limit: 1_000 }),
      bad: ["REQ_001 limit", (good) => ({ ...good, limit: 1_001 })],
    },
  }),

  ...calls("wallet", "ledger", LedgerServiceService, {
    post: {
      good: ({ orgId }) => {
        const walletId = newId("wal");
        const value = { walletId, userId: randomUUID(), type: AccountType.NORMAL };
        const context = { orgId, requestId: "", traceparent: "" };
        return { context, requestId: walletId, metadata: {}, intent: choice("openAccount", value) };
      },
      bad: ["REQ_001 context.orgId", (good) => ({ ...good, context: undefined })],
    },
    getBalances: {
      good: ({ orgId, payer: { walletId } }) => ({ orgId, accountIds: [walletId] }),
      bad: ["REQ_001 accountIds", (good) => ({ ...good, accountIds: TOO_MANY })],
    },
    getEntries: {
      good: ({ orgId, transferId }) => ({ orgId, requestIds: [transferId] }),
      bad: ["REQ_001 orgId", (good) => ({ ...good, orgId: "acme" })],
    },
  }),

  ...calls("chain-relayer", "auth", AuthServiceService, {
    getOrganisation: {
      good: ({ orgId: value }) => ({ by: choice("orgId", value) }),
      bad: ["REQ_001 organisation", () => ({ by: choice("orgId", newId("org")) })],
    },
  }),

  ...calls("chain-relayer", "wallet", WalletServiceService, {
    getWalletFacts: {
      good: ({ orgId, payer, payee }) => ({ orgId, walletIds: [payer.walletId, payee.walletId] }),
      bad: ["REQ_001 walletIds", (good) => ({ ...good, walletIds: TOO_MANY })],
    },
    findWalletsByAddress: {
      // The relayer watches every address, so it names no organisation.
      good: ({ payer: { address } }) => ({ orgId: "", addresses: [address.toLowerCase()] }),
      bad: ["REQ_001 addresses", (good) => ({ ...good, addresses: TOO_MANY })],
    },
    signAuthorizations: {
      good: ({ orgId, transferId: ledgerRef, payer, payee }) => {
        const leg = { orgId, ledgerRef, fromWalletId: payer.walletId, toAddress: payee.address };
        const chain = { chainId: BigInt(CHAIN.CHAIN_ID), tokenAddress: CHAIN.TOKEN_ADDRESS };
        const validBefore = BigInt(Math.floor(Date.now() / 1000) + 600);
        const what = {
          kind: AuthorizationKind.TRANSFER,
          amountWon: TRANSFER_WON,
          nonce: Buffer.alloc(32, 7),
        };
        return { intents: [{ ...leg, ...chain, ...what, validBefore }] };
      },
      bad: [
        "REQ_001 intents.0.nonce",
        ({ intents }) => ({ intents: intents.map((intent) => ({ ...intent, nonce: Buffer.alloc(31) })) }),
      ],
    },
    getLatestAuthorization: {
      good: ({ orgId, transferId: ledgerRef }) => ({ orgId, ledgerRef }),
      bad: ["REQ_001 orgId", (good) => ({ ...good, orgId: "" })],
    },
  }),

  ...calls("chain-relayer", "ledger", LedgerServiceService, {
    postBulk: {
      good: ({ orgId, payee: { walletId } }) => {
        const value = { walletId, amountWon: "500", chainLogId: `31337/0xb1/${randomUUID()}/0` };
        const intent = choice("creditExternal", value);
        return { items: [{ context: contextOf(orgId), requestId: newId("trf"), metadata: {}, intent }] };
      },
      bad: ["REQ_001 items", ({ items }) => ({ items: Array<(typeof items)[0]>(1_001).fill(items[0]!) })],
    },
    listAccounts: {
      good: ({ orgId }) => ({ orgId, limit: 1_000 }),
      bad: ["REQ_001 limit", (good) => ({ ...good, limit: 1_001 })],
    },
    getBalances: {
      good: ({ orgId, payee: { walletId } }) => ({ orgId, accountIds: [walletId] }),
      bad: ["REQ_001 orgId", (good) => ({ ...good, orgId: "" })],
    },
    listJournal: {
      good: ({ orgId }) => ({ orgId, afterSequence: 0n, limit: 10 }),
      bad: ["REQ_001 orgId", (good) => ({ ...good, orgId: "" })],
    },
    listJournalHeads: { good: () => ({ afterOrgId: undefined, limit: 10 }), bad: null },
    getTotals: { good: ({ orgId }) => ({ orgId }), bad: ["REQ_001 orgId", () => ({ orgId: "" })] },
  }),

  ...calls("chain-relayer", "payment", PaymentServiceService, {
    execute: {
      good: ({ orgId, payer, payee }) => ({
        ...executeRequest(orgId, transferCommand(payer, payee)),
        idempotencyKey: newId("txn"),
      }),
      bad: ["REQ_001 idempotencyKey", (good) => ({ ...good, idempotencyKey: "two\nlines" })],
    },
  }),

  ...SANDBOX_CALLS,
  ...X402_CALLS,
  ...FEED_CALLS,
];
