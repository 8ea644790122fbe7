import { type Database } from "@wonrail/kit/db";
import { invalidRequest } from "@wonrail/kit/contract/errors";
import { enumName, enumValue, type PromiseClient } from "@wonrail/kit/grpc/client";
import { prefixOf } from "@wonrail/kit/contract/ids";
import { type PageInfo, type PageRequest } from "@wonrail/proto/common/v1/common";
import { TransactionType } from "@wonrail/proto/ledger/v1/intents";
import { type LedgerServiceService, type StatementLine } from "@wonrail/proto/ledger/v1/ledger";
import { Direction, type WalletTransaction } from "@wonrail/proto/payment/v1/payment";
import { checksummed } from "@wonrail/kit/contract/address";
import { pending } from "@wonrail/kit/records";
import { settlementMessage } from "@wonrail/kit/records";
import { findSettlements, type StoredSettlement } from "../store/settlements";
import { findOutsideAddresses } from "../store/transfers";

export interface ListTransactionsDeps {
  db: Database;
  ledger: Pick<PromiseClient<LedgerServiceService>, "listStatement">;
  network: string;
}

export interface TransactionsWanted {
  orgId: string;
  walletId: string;
  types: string[];
  from: Date | undefined;
  to: Date | undefined;
  page: PageRequest | undefined;
}

const TYPE_NAMES = Object.keys(TransactionType).filter(
  (name) => name !== "UNSPECIFIED" && name !== "UNRECOGNIZED",
);

/** Ids of cancellations and of refunds of payments. */
const CANCEL_PREFIXES = ["ccl", "pcl", "prf"];

/** Lists the ledger's lines of a wallet, each with its settlement. */
export async function listWalletTransactions(
  { db, ledger, network }: ListTransactionsDeps,
  { orgId, walletId, types, from, to, page }: TransactionsWanted,
): Promise<{ transactions: WalletTransaction[]; page: PageInfo | undefined }> {
  const asked = { orgId, accountId: walletId, types: readTypes(types), from, to, page };
  const statement = await ledger.listStatement(asked, { retry: true });
  // The line of a posted hold has the settlement of the transfer that placed the hold.
  const refs = statement.lines.flatMap((line) => [line.requestId, line.relatedId]);
  const [settlements, addresses] = await Promise.all([
    findSettlements(db, orgId, refs),
    findOutsideAddresses(db, orgId, refs),
  ]);
  const transactions = statement.lines.map((line) => {
    const settlement =
      settlements.get(line.requestId) ?? (isTransfer(line) ? settlements.get(line.relatedId) : undefined);
    const outside = addresses.get(line.relatedId) ?? settlement?.counterparty ?? undefined;
    return transactionMessage(line, settlement, outside, network);
  });
  return { transactions, page: statement.page };
}

function isTransfer(line: StatementLine): boolean {
  return line.posting!.type === TransactionType.TRANSFER;
}

/** The organisation mints and burns accruals: the other wallets of the entry are no counterparty. */
function isAccrual({ posting }: StatementLine): boolean {
  return posting!.type === TransactionType.INCENTIVE || posting!.type === TransactionType.INCENTIVE_CANCEL;
}

/** The first wallet at the other end, in the order of the entry. */
function counterpartyWallet({ counterpartyAccountIds }: StatementLine): string | undefined {
  return counterpartyAccountIds.find((id) => id.startsWith("wal_"));
}

function readTypes(names: string[]): TransactionType[] {
  const unknown = names.filter((name) => !TYPE_NAMES.includes(name));
  if (unknown.length > 0) {
    throw invalidRequest([{ path: "type", message: `must be one or several of ${TYPE_NAMES.join(", ")}` }]);
  }
  return names.map((name) => enumValue(TransactionType, name));
}

function transactionMessage(
  line: StatementLine,
  settlement: StoredSettlement | undefined,
  outside: string | undefined,
  network: string,
): WalletTransaction {
  const posting = line.posting!;
  const amount = BigInt(posting.amountWon);
  return {
    // An entry may have two lines on one wallet. The line's sequence makes the id unique.
    transactionId: `${line.entryId}-${posting.sequence}`,
    type: enumName(TransactionType, posting.type) ?? "UNKNOWN",
    direction: amount < 0n ? Direction.OUT : Direction.IN,
    amountWon: (amount < 0n ? -amount : amount).toString(),
    balanceAfterWon: posting.balanceAfterWon,
    counterparty: isAccrual(line)
      ? undefined
      : (counterpartyWallet(line) ?? (outside && checksummed(outside))),
    memo: line.memo,
    relatedId: line.relatedId,
    cancelId: CANCEL_PREFIXES.includes(prefixOf(line.requestId)) ? line.requestId : undefined,
    settlement: settlementMessage(settlement ?? pending(network)),
    createdAt: line.postedAt,
  };
}
