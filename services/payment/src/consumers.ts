import { type BulkHandler, type ConsumerSpec } from "@wonrail/kit/inbox";
import { OrganisationChanged } from "@wonrail/proto/auth/events/v1/events";
import {
  DepositCredited,
  OperationConfirmed,
  OperationFailed,
  OperationSubmitted,
} from "@wonrail/proto/relayer/events/v1/events";
import { type App } from "./app";
import { type SettlementChange } from "./store/settlements";

/** The way in by events. */
export function consumers(app: App): ConsumerSpec[] {
  return [policies(app), settlements(app)];
}

function policies(app: App): ConsumerSpec {
  return {
    group: "payment.policies",
    topics: ["wonrail.auth.v1"],
    handlers: {
      organisation_changed: async (tx, { orgId, payload }) => {
        const { organisation } = OrganisationChanged.decode(payload);
        await app.savePolicy(tx, {
          orgId,
          dailyLimitWon: organisation!.dailyTransferLimitWon,
          incentiveRateBps: organisation!.incentiveRateBps,
          version: organisation!.version,
        });
      },
    },
  };
}

/** The state of settlements, from chain-relayer. */
function settlements(app: App): ConsumerSpec {
  // One handler for all four, so that a batch of them is written at once, in one order, whatever they say.
  const record: BulkHandler = {
    all: (tx, events) =>
      app.recordSettlements(
        tx,
        events.map(({ type, orgId, requestId, traceparent, payload }) => ({
          ...{ orgId, requestId, traceparent },
          ...READERS[type]!(payload),
        })),
      ),
  };
  return {
    group: "payment.settlements",
    topics: ["wonrail.relayer.v1"],
    handlers: Object.fromEntries(Object.keys(READERS).map((type) => [type, record])),
  };
}

/** What an event of the relayer says of an operation. */
type Said = Omit<SettlementChange, "orgId" | "requestId" | "traceparent">;

const READERS: Record<string, (payload: Buffer) => Said> = {
  operation_submitted(payload) {
    const { ledgerRef, network, txHash } = OperationSubmitted.decode(payload);
    return { ledgerRef, status: "SUBMITTED", network, txHash, blockNumber: null };
  },
  operation_confirmed(payload) {
    const { ledgerRef, network, txHash, blockNumber } = OperationConfirmed.decode(payload);
    return { ledgerRef, status: "CONFIRMED", network, txHash, blockNumber };
  },
  operation_failed(payload) {
    const { ledgerRef, network, reason, proofBlockNumber, proofBlockHash } = OperationFailed.decode(payload);
    const failure = { reason, proofBlockNumber, proofBlockHash };
    return { ledgerRef, status: "FAILED", network, txHash: null, blockNumber: null, failure };
  },
  deposit_credited(payload) {
    const { ledgerRef, network, txHash, blockNumber, fromAddress } = DepositCredited.decode(payload);
    return { ledgerRef, status: "CONFIRMED", network, txHash, blockNumber, counterparty: fromAddress };
  },
};
