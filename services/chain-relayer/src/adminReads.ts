import { type AdminHandlers, readLimit } from "@wonrail/kit/admin";
import { traceIdOf } from "@wonrail/kit/context";
import { DomainError, invalidRequest } from "@wonrail/kit/contract/errors";
import { TX_HASH_FORM } from "@wonrail/kit/contract/txHash";
import { type Database } from "@wonrail/kit/db";
import { readOrgId } from "@wonrail/kit/grpc/server";
import { type SearchHit } from "@wonrail/proto/common/v1/admin";
import { type Comparison, type RelayerAdminServiceService } from "@wonrail/proto/relayer/v1/admin";
import { findDeposit, listDepositsOfTransaction } from "./deposits";
import { decodeUnits, encodeBalanceOf, type Provider } from "./evm";
import { findAddresses, findCursor } from "./indexer";
import { depositMessage, driftMessage, fundsMessage } from "./messages";
import {
  countOpenDrifts,
  findReconciliation,
  listDriftsOfWallet,
  listSupplyPoints,
  readWalletBook,
} from "./reconciliation";
import { findRecords, findRecordWork, getRecord, recordMessage } from "./records";
import { findSignerFunds, findSignerState, findTransactionByHash, listPendingTransactions } from "./sender";
import {
  countOperationsOf,
  countPausedQueues,
  countQueued,
  findBlockedWallets,
  findOperationByChainId,
  findOldestOpenSeconds,
  findOperationsOfTransaction,
  summarizeOpen,
} from "./settlement";

export interface ReadDeps {
  db: Database;
  signerAddress: string;
  tokenAddress: string;
  onChain: <T>(signal: AbortSignal, work: (provider: Provider) => Promise<T>) => Promise<T>;
}

type Reads =
  | "getOverview"
  | "search"
  | "getDeposit"
  | "getRecordDetails"
  | "getReconciliation"
  | "getSigner"
  | "getChainBalance";

const MOST_HITS = 20;
const MOST_HOURS = 744;
const MOST_PENDING = 100;
const MOST_DRIFTS = 20;

/** The operators' views of several flows. */
export function adminReads(deps: ReadDeps): Pick<AdminHandlers<typeof RelayerAdminServiceService>, Reads> {
  const { db, signerAddress } = deps;
  return {
    getOverview: () => getOverview(deps),

    async search({ text }) {
      return { hits: await search(db, text.trim().toLowerCase()) };
    },

    async getDeposit({ ledgerRef }) {
      const deposit = await findDeposit(db, ledgerRef);
      if (!deposit) throw refusal("ledgerRef", "is the id of no deposit");
      return depositMessage(deposit);
    },

    async getRecordDetails({ recordId }) {
      const work = await findRecordWork(db, recordId);
      if (!work) throw refusal("recordId", "is the id of no recorded transaction");
      const { record, history } = await getRecord({ db }, work);
      return {
        orgId: work.orgId,
        record: recordMessage(record, history),
        run: record.run,
        runAt: work.runAt ?? undefined,
        attempts: record.attempts,
        transferId: record.transferId ?? undefined,
        requestId: record.requestId,
        traceId: traceIdOf(record.traceparent),
        idempotencyKey: work.idempotencyKey ?? undefined,
      };
    },

    async getReconciliation({ hours }) {
      const points = await listSupplyPoints(db, readLimit(hours, MOST_HOURS, "hours"));
      return {
        comparison: await readComparison(db),
        supply: points.map(({ supplyUnits, walletUnits, ...point }) => ({
          ...point,
          supplyUnits: supplyUnits.toString(),
          walletUnits: walletUnits.toString(),
        })),
      };
    },

    async getSigner(_request, { signal }) {
      const onChain = await deps.onChain(signal, async (provider) => ({
        balanceWei: (await provider.balance(signerAddress)).toString(),
        latestNonce: await provider.nonce(signerAddress, "latest"),
        pendingNonce: await provider.nonce(signerAddress, "pending"),
      }));
      const { nextNonce, holder, leaseEndsAt } = await findSignerState(db, signerAddress);
      return {
        ...onChain,
        funds: await readFunds(deps),
        nextNonce,
        leaseHolder: holder ?? undefined,
        leaseEndsAt: leaseEndsAt ?? undefined,
        transactions: await readTransactions(deps),
      };
    },

    getChainBalance: ({ orgId, walletId }, { signal }) =>
      getChainBalance(deps, { orgId: readOrgId(orgId), walletId }, signal),
  };
}

async function getOverview(deps: ReadDeps) {
  const { db } = deps;
  const [queued, open, cursor] = [await countQueued(db), await summarizeOpen(db), await findCursor(db)];
  const ages = [queued.oldestSeconds, queued.pausedSeconds, await findOldestOpenSeconds(db)];
  return {
    queued: BigInt(queued.count),
    oldestSeconds: wholeSeconds(Math.max(...ages)),
    open: open.map(({ state, reason, count, oldestSeconds }) => ({
      ...{ state, reason, operations: count },
      oldestSeconds: wholeSeconds(oldestSeconds),
    })),
    pausedQueues: await countPausedQueues(db),
    signer: await readFunds(deps),
    comparison: await readComparison(db),
    readBlock: cursor && { number: cursor.blockNumber, time: new Date(Number(cursor.blockTime) * 1000) },
  };
}

function wholeSeconds(seconds: number): number {
  return Math.max(0, Math.round(seconds));
}

async function readFunds({ db, signerAddress }: ReadDeps) {
  return fundsMessage(signerAddress, await findSignerFunds(db, signerAddress));
}

async function readTransactions({ db, signerAddress }: ReadDeps) {
  const pending = await listPendingTransactions(db, signerAddress, MOST_PENDING);
  const counts = await countOperationsOf(
    db,
    pending.map(({ transactionId }) => transactionId),
  );
  return pending.map(({ transactionId, sentAt, maxFeeWei, ...rest }) => ({
    ...rest,
    sentAt: sentAt ?? undefined,
    maxFeeWei: maxFeeWei.toString(),
    operations: counts.get(transactionId) ?? 0,
  }));
}

async function readComparison(db: Database): Promise<Comparison> {
  const { startedAt, finishedAt, blockNumber } = await findReconciliation(db);
  return {
    startedAt: startedAt ?? undefined,
    finishedAt: finishedAt ?? undefined,
    blockNumber: blockNumber ?? undefined,
    openDrifts: (await countOpenDrifts(db)).map(({ kind, count, units }) => ({
      ...{ kind, drifts: count, units: units.toString() },
    })),
  };
}

const CHAIN_ID = /^(0x)?[0-9a-f]{64}$/;

async function search(db: Database, text: string): Promise<SearchHit[]> {
  const hits: SearchHit[] = [];
  for (const { orgId, recordId, paymentType, status } of await findRecords(db, text, MOST_HITS))
    hits.push({ kind: "record", id: recordId, orgId, title: `${status} ${paymentType} record` });
  const deposit = await findDeposit(db, text);
  const deposits = TX_HASH_FORM.test(text) ? await listDepositsOfTransaction(db, text, MOST_HITS) : [];
  for (const { orgId, ledgerRef, amountWon, state } of deposit ? [deposit] : deposits)
    hits.push({ kind: "deposit", id: ledgerRef, orgId, title: `${state} deposit of ${amountWon} KRW` });
  const transaction = TX_HASH_FORM.test(text) ? await findTransactionByHash(db, text) : undefined;
  if (transaction) {
    const title = `${transaction.state} transaction with nonce ${transaction.nonce}`;
    hits.push({ kind: "transaction", id: text, orgId: "", title });
  }
  for (const { orgId, ledgerRef, kind, state } of await findOperations(db, text, transaction?.transactionId))
    hits.push({ kind: "operation", id: ledgerRef, orgId, title: `${state} operation, ${kind}` });
  return hits.slice(0, MOST_HITS);
}

async function findOperations(db: Database, text: string, transactionId: bigint | undefined) {
  if (transactionId !== undefined) return findOperationsOfTransaction(db, transactionId, MOST_HITS);
  if (!CHAIN_ID.test(text)) return [];
  const operation = await findOperationByChainId(db, text.replace(/^0x/, ""));
  return operation ? [operation] : [];
}

async function getChainBalance(
  { db, tokenAddress, onChain }: ReadDeps,
  { orgId, walletId }: { orgId: string; walletId: string },
  signal: AbortSignal,
) {
  const walletAddress = (await findAddresses(db, [walletId])).get(walletId);
  if (walletAddress === undefined) throw refusal("walletId", "is not known yet to chain-relayer");
  const book = await readWalletBook(db, orgId, walletId);
  if (!book) throw new DomainError("SYS_002");
  const { blockNumber, units, unbookedUnits } = book;
  const balance = await onChain(signal, (provider) =>
    provider.callAt(tokenAddress, encodeBalanceOf(walletAddress), blockNumber),
  );
  return {
    walletAddress,
    balanceUnits: decodeUnits(balance).toString(),
    blockNumber,
    expectedUnits: units.toString(),
    unbookedUnits: unbookedUnits.toString(),
    blocked: (await findBlockedWallets(db, [walletId])).has(walletId),
    openDrifts: (await listDriftsOfWallet(db, walletId, MOST_DRIFTS)).map(driftMessage),
  };
}

function refusal(path: string, message: string): DomainError {
  return invalidRequest([{ path, message }]);
}
