import { supporter, viewer } from "@wonrail/kit/testing";
import { DeadLetterState } from "@wonrail/proto/common/v1/admin";
import { OperatorRole, ProposalState } from "@wonrail/proto/common/v1/common";
import { DeliveryStatus } from "@wonrail/proto/events/v1/events";
import { WalletStatus, WalletType } from "@wonrail/proto/wallet/v1/wallet";
import { countOpen, OPERATIONS_OF_A_TRANSACTION } from "./fill/relayer";
import { hashOf, idOf, OPERATION, ORGANISATION, placeOf, type Size, WALLET } from "./numbered";
import { type World } from "./world";

type Read = (world: World) => Promise<unknown>;
const operator = viewer;
const compliance = { name: "auditor", roles: [OperatorRole.COMPLIANCE], reason: "" };
const page = { limit: 20 };

const below = (count: number) => Math.floor(Math.random() * count);
const anyOrganisation = (size: Size) => idOf(ORGANISATION, below(size.organisations), size);
const largest = (size: Size) => idOf(ORGANISATION, 0, size);
const anyWallet = (size: Size) => idOf(WALLET, below(WALLET.count(size)), size);
/** A wallet of the largest organisation, which has the longest statements. */
const busyWallet = (size: Size) => idOf(WALLET, below(10), size);
const codeOf = (organisation: number) => `BANK${String(organisation).padStart(6, "0")}`;
const anyTransactionHash = ({ operations }: Size) =>
  `0x${hashOf("tx", Math.floor(below(Math.floor(operations * 0.99)) / OPERATIONS_OF_A_TRANSACTION))}`;

/** An operation with the id of its organisation. */
function anyOperation(size: Size) {
  const number = below(size.operations);
  const orgId = idOf(ORGANISATION, placeOf(number, size).organisation, size);
  return { number, orgId, ref: idOf(OPERATION, number, size) };
}

function openOperation(size: Size) {
  const number = size.operations - 1 - below(countOpen(size));
  return {
    orgId: idOf(ORGANISATION, placeOf(number, size).organisation, size),
    ref: idOf(OPERATION, number, size),
  };
}

/** The reads of each screen, as the pages send them. */
export const SCREENS: Record<string, Record<string, Read>> = {
  home: {
    "ledger.GetOverview": ({ clients }) => clients.ledger.getOverview({ operator }),
    "relayer.GetOverview": ({ clients }) => clients.relayer.getOverview({ operator }),
    "events.GetOverview": ({ clients }) => clients.events.getOverview({ operator }),
    "payment.GetOverview": ({ clients }) => clients.payment.getOverview({ operator }),
    "events.ListConsumers": ({ clients }) => clients.events.listConsumers({ operator }),
  },
  search: {
    "auth.Search.code": ({ clients, size }) =>
      clients.auth.search({ operator, text: codeOf(below(size.organisations)).slice(0, 8) }),
    "auth.Search.name": ({ clients }) => clients.auth.search({ operator, text: "bank number 1" }),
    "wallet.Search.user": ({ clients, size }) =>
      clients.wallet.search({ operator, text: `user-${below(size.organisations)}-3` }),
    "wallet.Search.address": ({ clients, size }) =>
      clients.wallet.search({
        operator,
        text: `0x${below(WALLET.count(size)).toString(16).padStart(40, "0")}`,
      }),
    "ledger.Search.id": ({ clients, size }) =>
      clients.ledger.search({ operator, text: anyOperation(size).ref }),
    "ledger.Search.reference": ({ clients, size }) =>
      clients.ledger.search({ operator, text: `order-${below(size.operations / 10) * 10 + 1}` }),
    "ledger.Search.request": ({ clients, size }) => {
      const call = { prefix: "req", count: OPERATION.count } as const;
      return clients.ledger.search({ operator, text: idOf(call, below(size.operations), size) });
    },
    "relayer.Search.hash": ({ clients, size }) =>
      clients.relayer.search({ operator, text: anyTransactionHash(size) }),
    "relayer.Search.chainId": ({ clients, size }) =>
      clients.relayer.search({ operator, text: hashOf("operation", below(size.operations)) }),
    "events.Search.event": ({ clients, size }) => {
      const event = { prefix: "evt", count: OPERATION.count } as const;
      return clients.events.search({ operator, text: idOf(event, below(size.operations), size) });
    },
    "payment.Search.payout": ({ clients, size }) => {
      const payout = { prefix: "pyo", count: ORGANISATION.count } as const;
      return clients.payment.search({ operator, text: idOf(payout, below(size.organisations), size) });
    },
  },
  operation: {
    "ledger.GetEntryDetails": ({ clients, size }) =>
      clients.ledger.getEntryDetails({ operator, requestId: anyOperation(size).ref }),
    "relayer.GetOperationDetails": ({ clients, size }) => {
      const { ref, orgId } = anyOperation(size);
      return clients.relayer.getOperationDetails({ operator, ref, orgId });
    },
    "relayer.GetOperationDetails.open": ({ clients, size }) =>
      clients.relayer.getOperationDetails({ operator, ...openOperation(size) }),
    "relayer.GetOperationDetails.noOrganisation": ({ clients, size }) =>
      clients.relayer.getOperationDetails({ operator, ref: anyOperation(size).ref }),
    "wallet.ListSignings": ({ clients, size }) => {
      const { ref, orgId } = anyOperation(size);
      return clients.wallet.listSignings({ operator, orgId, ledgerRef: ref });
    },
    "events.ListObjectEvents": ({ clients, size }) => {
      const { ref, orgId } = anyOperation(size);
      return clients.events.listObjectEvents({ operator: supporter, orgId, objectId: ref, limit: 100 });
    },
  },
  organisations: {
    "auth.ListOrganisations": ({ clients, size }) =>
      clients.auth.listOrganisations({ operator, afterCode: codeOf(below(size.organisations)), limit: 100 }),
  },
  organisation: {
    "auth.GetOrganisationDetails": ({ clients, size }) =>
      clients.auth.getOrganisationDetails({ operator, by: { $case: "orgId", value: anyOrganisation(size) } }),
    "auth.ListOrganisationKeys": ({ clients, size }) =>
      clients.auth.listOrganisationKeys({ operator, code: codeOf(below(size.organisations)), limit: 100 }),
    "auth.ListAuditEntries": ({ clients, size }) =>
      clients.auth.listAuditEntries({
        operator: compliance,
        code: codeOf(below(size.organisations)),
        limit: 100,
      }),
    "ledger.GetOrganisationBooks": ({ clients, size }) =>
      clients.ledger.getOrganisationBooks({ operator, orgId: largest(size), days: 92 }),
    "wallet.ListOrganisationWallets": ({ clients, size }) =>
      clients.wallet.listOrganisationWallets({
        ...{ operator, orgId: anyOrganisation(size), page },
        ...{ walletType: WalletType.UNSPECIFIED, status: WalletStatus.UNSPECIFIED },
      }),
    "events.ListWebhookStates": ({ clients, size }) =>
      clients.events.listWebhookStates({ operator, orgId: largest(size), troubled: false, limit: 1_000 }),
  },
  wallet: {
    "wallet.GetWalletDetails": ({ clients, size }) =>
      clients.wallet.getWalletDetails({ operator, walletId: anyWallet(size) }),
    "ledger.GetAccount": ({ clients, size }) =>
      clients.ledger.getAccount({ operator, accountId: anyWallet(size) }),
    "ledger.GetBalanceHistory": ({ clients, size }) =>
      clients.ledger.getBalanceHistory({
        operator,
        orgId: largest(size),
        accountId: busyWallet(size),
        days: 92,
      }),
    "ledger.ListAccountLines": ({ clients, size }) =>
      clients.ledger.listAccountLines({
        operator,
        orgId: largest(size),
        accountId: busyWallet(size),
        page,
      }),
    "ledger.ListAccountHolds": ({ clients, size }) =>
      clients.ledger.listAccountHolds({
        operator,
        orgId: largest(size),
        accountId: busyWallet(size),
        limit: 1_000,
      }),
  },
  settlement: {
    "relayer.ListQueues": ({ clients, size }) =>
      clients.relayer.listQueues({
        operator,
        afterOrgId: anyOrganisation(size),
        limit: 100,
        pausedOnly: false,
      }),
    "relayer.ListQueues.paused": ({ clients }) =>
      clients.relayer.listQueues({ operator, limit: 100, pausedOnly: true }),
    "relayer.ListOpenOperations": ({ clients }) =>
      clients.relayer.listOpenOperations({ operator, olderThanSeconds: 0, limit: 500, undecided: false }),
    "relayer.ListOpenOperations.undecided": ({ clients }) =>
      clients.relayer.listOpenOperations({ operator, olderThanSeconds: 0, limit: 500, undecided: true }),
    "relayer.ListOpenOperations.organisation": ({ clients, size }) =>
      clients.relayer.listOpenOperations({
        ...{ operator, olderThanSeconds: 0, limit: 500, undecided: false },
        orgId: anyOrganisation(size),
      }),
    "relayer.GetSigner": ({ clients }) => clients.relayer.getSigner({ operator }),
    "relayer.ListBlockedWallets": ({ clients }) =>
      clients.relayer.listBlockedWallets({ operator, limit: 1_000 }),
  },
  reconciliation: {
    "relayer.GetReconciliation": ({ clients }) => clients.relayer.getReconciliation({ operator, hours: 744 }),
    "relayer.ListDrifts": ({ clients }) => clients.relayer.listDrifts({ operator, all: false, limit: 1_000 }),
    "relayer.ListDrifts.all": ({ clients }) =>
      clients.relayer.listDrifts({ operator, all: true, limit: 1_000 }),
  },
  deadLetters: {
    "common.ListDeadLetters": ({ clients }) =>
      clients.eventsCommon.listDeadLetters({ operator, state: DeadLetterState.UNSPECIFIED, limit: 100 }),
    "events.ListWebhookStates.troubled": ({ clients }) =>
      clients.events.listWebhookStates({ operator, troubled: true, limit: 1_000 }),
    "events.ListWebhookDeliveries": async ({ clients, size }) => {
      const { webhooks } = await clients.events.listWebhookStates({
        ...{ operator, orgId: largest(size), troubled: false, limit: 1 },
      });
      return clients.events.listWebhookDeliveries({
        ...{
          operator: supporter,
          webhookId: webhooks[0]!.webhookId,
          status: DeliveryStatus.UNSPECIFIED,
          limit: 200,
        },
      });
    },
  },
  approvals: {
    "common.ListProposals": ({ clients }) =>
      clients.relayerCommon.listProposals({ operator, state: ProposalState.UNSPECIFIED, limit: 100 }),
  },
  audit: {
    "common.ListOperatorActions": ({ clients }) =>
      clients.relayerCommon.listOperatorActions({ operator: compliance, limit: 100 }),
    "ledger.ListFrozenWallets": ({ clients }) => clients.ledger.listFrozenWallets({ operator, limit: 1_000 }),
  },
  system: {
    "common.GetSystem": ({ clients }) => clients.eventsCommon.getSystem({ operator }),
    "wallet.CheckSeals": ({ clients }) => clients.wallet.checkSeals({ operator }),
  },
};
