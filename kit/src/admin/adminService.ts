import {
  AdminServiceService,
  type DeadLetter as DeadLetterMessage,
  DeadLetterState,
  type OperatorAction as ActionMessage,
} from "@wonrail/proto/common/v1/admin";
import { ProposalState } from "@wonrail/proto/common/v1/common";
import { invalidRequest } from "../contract/errors";
import { type Database } from "../db";
import { enumFilter } from "../grpc/enums";
import { type GrpcService } from "../grpc/server";
import { type DeadLetter, type DeadLetterSummary, listDeadLetters, showDeadLetter } from "../inbox";
import { type ApprovedAction, approveProposal, rejectProposal } from "./approvals";
import { dropForOperator } from "./dropForOperator";
import { type AdminProcess, getSystem } from "./getSystem";
import { implementAdmin } from "./implementAdmin";
import { listOperatorActions, type OperatorAction, verifyOperatorActions } from "./operatorActions";
import { roleMessage } from "./operators";
import { proposalMessage } from "./proposalMessage";
import { listProposals } from "./proposals";
import { requestReplay } from "./requestReplay";

const MAX_LIMIT = 1_000;

/**
 * The admin RPCs that every service serves: its state, dead letters, the trail of operators'
 * actions, and proposals. An approval runs one of the actions.
 */
export function createAdminService(
  { db, ...server }: AdminProcess & { db: Database },
  actions: ReadonlyMap<string, ApprovedAction> = new Map(),
): GrpcService {
  return implementAdmin(AdminServiceService, {
    getSystem: () => getSystem(db, server),

    async listDeadLetters({ state, beforeId, limit }) {
      const wanted = enumFilter(DeadLetterState, state, "state");
      const letters = await listDeadLetters(db, {
        limit: readLimit(limit),
        ...(wanted === undefined ? {} : { state: STATES[wanted] }),
        ...(beforeId === undefined ? {} : { beforeId }),
      });
      return { deadLetters: letters.map(deadLetterMessage) };
    },

    async getDeadLetter({ id }) {
      const letter = await showDeadLetter(db, id);
      if (!letter) return { deadLetter: undefined, headers: {}, payload: Buffer.alloc(0) };
      return { deadLetter: deadLetterMessage(letter), headers: letter.headers, payload: letter.payload };
    },

    async replayDeadLetters({ which }, { operator }) {
      if (which === undefined)
        throw invalidRequest([{ path: "which", message: "must name an id or a group" }]);
      const wanted = which.$case === "id" ? { id: which.value } : { group: which.value };
      return { requested: await requestReplay({ db }, wanted, operator) };
    },

    async dropDeadLetter({ id }, { operator }) {
      await dropForOperator({ db }, id, operator);
      return {};
    },

    async listProposals({ state, beforeId, limit }) {
      const wanted = enumFilter(ProposalState, state, "state") ?? "OPEN";
      const page = { beforeId: beforeId ?? null, limit: readLimit(limit) };
      const found = await listProposals(db, { state: wanted, ...page });
      return { proposals: found.map(proposalMessage) };
    },

    async approveProposal({ proposalId }, call) {
      return { approved: proposalMessage(await approveProposal({ db, actions }, proposalId, call)) };
    },

    async rejectProposal({ proposalId }, { operator }) {
      return { ended: proposalMessage(await rejectProposal({ db }, proposalId, operator)) };
    },

    async listOperatorActions({ beforeSequence, limit }) {
      const actions = await listOperatorActions(db, { before: beforeSequence, limit: readLimit(limit) });
      return { actions: actions.map(actionMessage) };
    },

    async verifyOperatorActions(_request, { signal }) {
      const { actions, broken } = await verifyOperatorActions(db, signal);
      return { actions, brokenSequence: broken?.sequence, problem: broken?.problem };
    },
  });
}

/** The page size of a list for operators, or the length of a chart. */
export function readLimit(limit: number, most = MAX_LIMIT, path = "limit"): number {
  if (limit >= 1 && limit <= most) return limit;
  throw invalidRequest([{ path, message: `must be from 1 to ${most}` }]);
}

const STATES = {
  DEAD: "dead",
  REPLAY_REQUESTED: "replay_requested",
  REPLAYED: "replayed",
  DROPPED: "dropped",
} as const;

function deadLetterMessage(letter: DeadLetterSummary): DeadLetterMessage {
  const { id, group, topic, partition, number, key, type, error, failures, failedAt, state } = letter;
  return {
    ...{ id, topic, partition, error, failures, failedAt },
    consumerGroup: group,
    feedNumber: number ?? undefined,
    messageKey: key,
    eventType: type,
    state: DeadLetterState[stateName(state)],
  };
}

function stateName(state: DeadLetter["state"]): keyof typeof STATES {
  return state.toUpperCase() as Uppercase<typeof state>;
}

function actionMessage(action: OperatorAction): ActionMessage {
  const { sequence, occurredAt, operator, method, subject, reason, requestId, hash } = action;
  return {
    ...{ sequence, occurredAt, operator, method, subject, reason, requestId, hash },
    roles: action.roles.map(roleMessage),
    client: action.client ?? undefined,
    orgId: action.orgId ?? undefined,
    detailsJson: action.details,
  };
}
