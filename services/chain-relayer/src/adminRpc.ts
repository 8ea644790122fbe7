import { type AdminHandlers, implementAdmin, readLimit } from "@wonrail/kit/admin";
import { readAddress } from "@wonrail/kit/contract/address";
import { DomainError, invalidRequest } from "@wonrail/kit/contract/errors";
import { TX_HASH_FORM } from "@wonrail/kit/contract/txHash";
import { type Database } from "@wonrail/kit/db";
import { enumName, type GrpcService, readOrgId } from "@wonrail/kit/grpc/server";
import { OperationEnding, RelayerAdminServiceService } from "@wonrail/proto/relayer/v1/admin";
import { adminReads } from "./adminReads";
import { type Provider, RpcRefusal, RpcUnanswered } from "./evm";
import { listPaymentManagers, rescan } from "./indexer";
import { driftMessage, endingMessage, openOperationMessage } from "./messages";
import { acknowledge, listDrifts } from "./reconciliation";
import { getRestore, prepareRestore, type PrepareDeps, resumeAfterRestore } from "./restore";
import {
  type Adoption,
  adoptPaymentManager,
  type Decision,
  type Ending,
  endOperation,
  findOperationDetails,
  listBlockedWallets,
  listQueues,
  listStuckOperations,
  pauseQueue,
  resumeQueue,
} from "./settlement";

const MAX_LIMIT = 10_000;
const QUEUES_BY_DEFAULT = 100;
const NO_QUEUE = "has no queue: an organisation gets its queue with its first entry";

export interface AdminDeps extends Pick<PrepareDeps, "correctHeads"> {
  db: Database;
  network: string;
  signerAddress: string;
  tokenAddress: string;
  /** The checked chain. Null when the signal aborts before that. */
  reachChain: (signal: AbortSignal) => Promise<Provider | null>;
}

/** The operators' gRPC methods. The kit has checked the operator's role and reason. */
export function adminRpc({ reachChain, correctHeads, ...deps }: AdminDeps): GrpcService {
  const { db, network } = deps;
  const handlers: AdminHandlers<typeof RelayerAdminServiceService> = {
    ...adminReads({ ...deps, onChain }),

    async listOpenOperations({ olderThanSeconds, orgId, limit, undecided }) {
      const wanted = {
        olderThanSeconds,
        orgId: orgId === undefined ? null : readOrgId(orgId),
        isUndecided: undecided,
        limit: readLimit(limit, MAX_LIMIT),
      };
      return { operations: (await listStuckOperations(db, wanted)).map(openOperationMessage) };
    },

    async getOperationDetails({ ref, orgId }) {
      const details = await findOperationDetails(db, ref, orgId === undefined ? null : readOrgId(orgId));
      if (!details) throw refusal("ref", NO_OPERATION);
      const { operation, endings, earlier, transactions, authorizations } = details;
      return {
        operationJson: toJson(operation),
        earlierJson: earlier.map(toJson),
        transactionsJson: transactions.map(toJson),
        authorizationsJson: authorizations.map(toJson),
        endings: endings.map(endingMessage),
      };
    },

    async endOperation({ ledgerRef, ending, txHash }, { operator, signal }) {
      const decision = decisionOf(ending);
      if ((decision === "settled_elsewhere") !== (txHash !== undefined))
        throw refusal("txHash", "belongs to an operation that was settled elsewhere, and only to that");
      if (txHash !== undefined && !TX_HASH_FORM.test(txHash))
        throw refusal("txHash", "must be 0x and 64 hex digits");
      const wanted = { decision, txHash: txHash?.toLowerCase() ?? null };
      const ended = await onChain(signal, (provider) =>
        endOperation({ db, provider, network }, ledgerRef, { ...wanted, operator }),
      );
      if (ended !== "done") throw refusal("operation", NOT_ENDED[ended]);
      return {};
    },

    async listQueues({ afterOrgId, limit, pausedOnly, orgId }) {
      const queues = await listQueues(db, {
        orgId: orgId === undefined ? null : readOrgId(orgId, "orgId"),
        afterOrgId: afterOrgId === undefined ? "" : readOrgId(afterOrgId, "afterOrgId"),
        isPausedOnly: pausedOnly,
        limit: readLimit(limit === 0 ? QUEUES_BY_DEFAULT : limit),
      });
      return {
        queues: queues.map(({ pausedReason, queuedSince, ...queue }) => ({
          ...queue,
          pausedReason: pausedReason ?? undefined,
          queuedSince: queuedSince ?? undefined,
        })),
      };
    },

    async pauseQueue({ orgId }, { operator }) {
      if (!(await pauseQueue({ db }, readOrgId(orgId), operator))) throw refusal("organisation", NO_QUEUE);
      return {};
    },

    async resumeQueue({ orgId }, { operator }) {
      if (!(await resumeQueue({ db }, readOrgId(orgId), operator)))
        throw refusal("organisation", "has no paused queue");
      return {};
    },

    async listDrifts({ all, limit }) {
      const drifts = await listDrifts(db, { all, limit: readLimit(limit, MAX_LIMIT) });
      return { drifts: drifts.map(driftMessage) };
    },

    async acknowledgeDrifts({ which }, { operator }) {
      if (which === undefined) throw refusal("which", "must name a wallet or a drift");
      const wanted = which.$case === "walletId" ? { walletId: which.value } : { driftId: which.value };
      if (!(await acknowledge({ db }, wanted, operator)))
        throw refusal("which", "no such drift waits for an acknowledgement");
      return {};
    },

    async listBlockedWallets({ limit }) {
      const wallets = await listBlockedWallets(db, readLimit(limit, MAX_LIMIT));
      return { wallets: wallets.map((wallet) => ({ ...wallet, refusal: wallet.refusal ?? undefined })) };
    },

    async rescanBlocks({ fromBlock }, { operator, signal }) {
      if (fromBlock < 1n) throw refusal("from", "the first block that can be read again is 1");
      const outcome = await onChain(signal, (provider) => rescan({ db, provider }, fromBlock, operator));
      if (outcome === "no_such_block") throw refusal("from", `the chain has no block ${fromBlock - 1n}`);
      if (outcome === "not_ingested_yet")
        throw refusal("from", `block ${fromBlock} has not been ingested yet`);
      if (outcome !== "rewound") throw refusal("from", replacedAt(outcome.replacedAt));
      return {};
    },

    async listPaymentManagers() {
      return { addresses: await listPaymentManagers(db) };
    },

    async adoptPaymentManager({ address: text }, { operator, signal }) {
      const address = readAddress(text);
      if (address === null) throw refusal("address", "must be an address");
      const outcome = await onChain(signal, (provider) =>
        adoptPaymentManager({ db, provider }, address, operator),
      );
      if (outcome !== "adopted") throw refusal("address", notAdopted(address, outcome));
      return {};
    },

    async getRestore({ limit }, { signal }) {
      const finalBlock = await onChain(signal, (provider) => provider.finalBlock());
      const { restore, readBlock, comparedBlock, differences, undecided, ...view } = await getRestore(
        db,
        readLimit(limit, MAX_LIMIT),
      );
      return {
        ...view,
        restore: restore ?? undefined,
        finalBlock: finalBlock?.number ?? 0n,
        readBlock: readBlock ?? undefined,
        comparedBlock: comparedBlock ?? undefined,
        differences: differences.map(driftMessage),
        undecided: undecided.map(openOperationMessage),
      };
    },

    prepareRestore: (_request, { operator, signal }) =>
      onChain(signal, (provider) => prepareRestore({ db, provider, correctHeads }, operator, signal)),

    async resumeAfterRestore(_request, { operator }) {
      const obstacles = await resumeAfterRestore({ db }, operator);
      if (obstacles === "none") throw refusal("restore", "no restore is under way");
      if (obstacles.length > 0) throw refusal("restore", obstacles.join(" "));
      return {};
    },
  };
  return implementAdmin(RelayerAdminServiceService, handlers, db);

  async function onChain<T>(signal: AbortSignal, work: (provider: Provider) => Promise<T>): Promise<T> {
    const provider = await reachChain(signal);
    if (provider === null) throw new DomainError("SYS_002");
    try {
      return await work(provider);
    } catch (error) {
      // A node refuses what it cannot tell, such as the state of a block that it has pruned.
      const isUntold = error instanceof RpcUnanswered || error instanceof RpcRefusal;
      throw isUntold ? new DomainError("SYS_002", null, { cause: error }) : error;
    }
  }
}

const NO_OPERATION = "is no operation. An entry becomes one when its queue has room: see queue list";

const DECISIONS: Record<Uppercase<Decision>, Decision> = {
  SETTLED_ELSEWHERE: "settled_elsewhere",
  GIVE_UP: "give_up",
  SIGN_ANEW: "sign_anew",
  READ_AGAIN: "read_again",
  PASS_OVER: "pass_over",
};

function decisionOf(ending: OperationEnding): Decision {
  const name = enumName(OperationEnding, ending);
  if (name === undefined) throw refusal("ending", "must be a way that this release knows");
  return DECISIONS[name];
}

const NOT_ENDED: Record<Exclude<Ending, "done">, string> = {
  another_way: "use read-again or pass-over for a BLOCKED entry, and the other ways for all other operations",
  not_at_a_dead_end: "it does not wait for an operator. See: operation show",
  only_a_hold_is_given_up:
    "only a hold can be given up: the ledger has already moved the money of an entry. Use settled or sign-anew",
  custody_signs_no_other:
    "custody has signed another authorization for it and never signs a second one. Use settled, or give-up for a hold",
  no_proof:
    "the transaction is no proof: it must be final and indexed, have moved exactly the operation's " +
    "steps, and have settled no other operation",
};

function replacedAt(block: bigint): string {
  return (
    `block ${block}, the last ingested one, is not the block that was final: final blocks were replaced. ` +
    "A rescan would credit the deposits in these blocks a second time. See docs/runbooks/FinalBlockReplaced.md"
  );
}

function notAdopted(address: string, outcome: Exclude<Adoption, "adopted">): string {
  switch (outcome) {
    case "in_use":
      return `${address} is in use`;
    case "nothing_ingested":
      return "the service has not ingested a block yet";
    case "rescanning":
      return "a rescan is under way. Try again when it has ended";
    case "not_of_our_token":
      return `${address} was not a payment manager of the token at the last ingested block`;
    case "changed_meanwhile":
      return "another payment manager was adopted meanwhile";
    default:
      return (
        `at block ${outcome.blockNumber}, the last indexed one, ${outcome.stillMints} could still mint: ` +
        "an operation might be minted twice. Set its mint allowance to 0, and try again when that " +
        "change is final and indexed"
      );
  }
}

function toJson(row: object): string {
  return JSON.stringify(row, (_key, value: unknown) =>
    typeof value === "bigint" ? value.toString() : value,
  );
}

function refusal(path: string, message: string): DomainError {
  return invalidRequest([{ path, message }]);
}
