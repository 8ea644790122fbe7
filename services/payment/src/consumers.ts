import { type ConsumerSpec } from "@wonrail/kit/inbox";
import { OrganisationChanged } from "@wonrail/proto/auth/events/v1/events";
import {
  DepositCredited,
  OperationConfirmed,
  OperationFailed,
  OperationSubmitted,
} from "@wonrail/proto/relayer/events/v1/events";
import { type App } from "./app";

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

function settlements(app: App): ConsumerSpec {
  return {
    group: "payment.settlements",
    topics: ["wonrail.relayer.v1"],
    handlers: {
      operation_submitted: (tx, { orgId, payload }) => {
        const { ledgerRef, network, txHash } = OperationSubmitted.decode(payload);
        return app.recordSettlement(tx, {
          orgId,
          ledgerRef,
          status: "SUBMITTED",
          network,
          txHash,
          blockNumber: null,
        });
      },
      operation_confirmed: (tx, { orgId, payload }) => {
        const { ledgerRef, network, txHash, blockNumber } = OperationConfirmed.decode(payload);
        return app.recordSettlement(tx, {
          orgId,
          ledgerRef,
          status: "CONFIRMED",
          network,
          txHash,
          blockNumber,
        });
      },
      operation_failed: (tx, { orgId, payload }) => {
        const { ledgerRef, network, reason, proofBlockNumber, proofBlockHash } =
          OperationFailed.decode(payload);
        const failure = { reason, proofBlockNumber, proofBlockHash };
        const unmined = { txHash: null, blockNumber: null };
        return app.recordSettlement(tx, { orgId, ledgerRef, status: "FAILED", network, ...unmined, failure });
      },
      deposit_credited: (tx, { orgId, payload }) => {
        const { ledgerRef, network, txHash, blockNumber, fromAddress } = DepositCredited.decode(payload);
        const counterparty = fromAddress;
        return app.recordSettlement(tx, {
          orgId,
          ledgerRef,
          status: "CONFIRMED",
          network,
          txHash,
          blockNumber,
          counterparty,
        });
      },
    },
  };
}
