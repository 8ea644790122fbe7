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

function settlementChanges({ type, orgId, version, payload }: ReceivedEvent): SettlementChange[] {
  return READERS[type]!(payload, version).map((content) => ({ orgId, ...content }));
}

type Content = Omit<SettlementChange, "orgId">;

const READERS: Record<string, (payload: Buffer, version: bigint) => Content[]> = {
  operations_submitted(payload) {
    const { network, txHash, operations, changedAt } = OperationsSubmitted.decode(payload);
    const submitted = { changedAt: changedAt!, status: "SUBMITTED", network, txHash } as const;
    return operations.map(({ ledgerRef, version }) => ({
      ...{ ledgerRef, version, ...submitted, blockNumber: null },
    }));
  },
  operations_confirmed(payload) {
    const { network, operations, changedAt } = OperationsConfirmed.decode(payload);
    const confirmed = { changedAt: changedAt!, status: "CONFIRMED", network } as const;
    return operations.map(({ ledgerRef, version, txHash, blockNumber }) => ({
      ...{ ledgerRef, version, ...confirmed, txHash, blockNumber },
    }));
  },
  operation_failed(payload, version) {
    const { ledgerRef, network, changedAt, ...proof } = OperationFailed.decode(payload);
    const { reason, proofBlockNumber, proofBlockHash } = proof;
    const failed = { version, changedAt: changedAt!, status: "FAILED", network } as const;
    const failure = { reason, proofBlockNumber, proofBlockHash };
    return [{ ledgerRef, ...failed, txHash: null, blockNumber: null, failure }];
  },
  deposit_credited(payload, version) {
    const { ledgerRef, network, txHash, blockNumber, changedAt, ...of } = DepositCredited.decode(payload);
    const credited = { version, changedAt: changedAt!, status: "CONFIRMED", network } as const;
    return [{ ledgerRef, ...credited, txHash, blockNumber, counterparty: of.fromAddress }];
  },
};
