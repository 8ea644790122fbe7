import { type BulkHandler, type ConsumerSpec, type ReceivedEvent } from "@wonrail/kit/inbox";
import { OrganisationChanged } from "@wonrail/proto/auth/events/v1/events";
import { JournalPosted } from "@wonrail/proto/ledger/events/v1/events";
import {
  DepositCredited,
  OperationFailed,
  OperationsConfirmed,
  OperationsSubmitted,
} from "@wonrail/proto/relayer/events/v1/events";
import { type App } from "./app";
import { type SettlementChange } from "./store/settlements";

/** The way in by events. */
export function consumers(app: App): ConsumerSpec[] {
  return [policies(app), records(app), settlements(app)];
}

function policies(app: App): ConsumerSpec {
  return {
    group: "payment.policies",
    topics: ["wonrail.auth.v1"],
    handlers: {
      organisation_changed: async (tx, { orgId, payload }) => {
        await app.savePolicy(tx, orgId, OrganisationChanged.decode(payload).organisation!);
      },
    },
  };
}

function records(app: App): ConsumerSpec {
  return {
    group: "payment.records",
    topics: ["wonrail.ledger.v1"],
    handlers: {
      journal_posted: {
        async all(tx, events) {
          const entries = events.flatMap(({ orgId, payload }) =>
            JournalPosted.decode(payload).entries.map((entry) => ({ orgId, entry })),
          );
          await app.projectJournal(tx, entries);
          app.metrics.projections.wrote(events);
        },
      },
    },
  };
}

function settlements(app: App): ConsumerSpec {
  // All types share the handler, because the kit passes it a run of events at once. So a mixed
  // batch is one statement.
  const handler: BulkHandler = {
    async all(tx, events) {
      await app.projectSettlements(tx, events.flatMap(settlementChanges));
      app.metrics.projections.wrote(events);
    },
  };
  return {
    group: "payment.settlements",
    topics: ["wonrail.relayer.v1"],
    handlers: Object.fromEntries(Object.keys(READERS).map((type) => [type, handler])),
  };
}

function settlementChanges({ type, orgId, version, occurredAt, payload }: ReceivedEvent): SettlementChange[] {
  return READERS[type]!(payload, version).map((content) => ({ orgId, occurredAt, ...content }));
}

type Content = Omit<SettlementChange, "orgId" | "occurredAt">;

const READERS: Record<string, (payload: Buffer, version: bigint) => Content[]> = {
  operations_submitted(payload) {
    const { network, txHash, operations } = OperationsSubmitted.decode(payload);
    return operations.map(({ ledgerRef, version }) => ({
      ...{ ledgerRef, version, status: "SUBMITTED", network, txHash, blockNumber: null },
    }));
  },
  operations_confirmed(payload) {
    const { network, operations } = OperationsConfirmed.decode(payload);
    return operations.map(({ ledgerRef, version, txHash, blockNumber }) => ({
      ...{ ledgerRef, version, status: "CONFIRMED", network, txHash, blockNumber },
    }));
  },
  operation_failed(payload, version) {
    const { ledgerRef, network, reason, proofBlockNumber, proofBlockHash } = OperationFailed.decode(payload);
    const failure = { reason, proofBlockNumber, proofBlockHash };
    return [{ ledgerRef, version, status: "FAILED", network, txHash: null, blockNumber: null, failure }];
  },
  deposit_credited(payload, version) {
    const { ledgerRef, network, txHash, blockNumber, fromAddress } = DepositCredited.decode(payload);
    const content = { network, txHash, blockNumber, counterparty: fromAddress };
    return [{ ledgerRef, version, status: "CONFIRMED", ...content }];
  },
};
