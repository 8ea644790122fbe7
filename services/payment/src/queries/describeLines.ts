import { type Database } from "@wonrail/kit/db";
import { enumName } from "@wonrail/kit/grpc/client";
import { prefixOf } from "@wonrail/kit/contract/ids";
import { checksummed } from "@wonrail/kit/contract/address";
import { chargeStatus, paymentStatus, pending, settlementMessage } from "@wonrail/kit/records";
import { TransactionType } from "@wonrail/proto/ledger/v1/intents";
import { type StatementLine } from "@wonrail/proto/ledger/v1/ledger";
import { Direction, type WalletTransaction } from "@wonrail/proto/payment/v1/payment";
import { findCharges } from "../store/charges";
import { findPayments } from "../store/payments";
import { findSettlements, type StoredSettlement } from "../store/settlements";
import { findOutsideAddresses } from "../store/transfers";

const CANCEL_PREFIXES = ["ccl", "pcl", "prf"];

/** The ledger's lines with the status of their records, their settlements and outside addresses. */
export async function describeLines(
  { db, network }: { db: Database; network: string },
  orgId: string,
  lines: StatementLine[],
): Promise<WalletTransaction[]> {
  // The line of a posted hold has the settlement of the transfer that placed the hold.
  const refs = lines.flatMap((line) => [line.requestId, line.relatedId]);
  const [settlements, addresses, statuses] = await Promise.all([
    findSettlements(db, orgId, refs),
    findOutsideAddresses(db, orgId, refs),
    findStatuses(
      db,
      orgId,
      lines.map(({ relatedId }) => relatedId),
    ),
  ]);
  return lines.map((line) => {
    const settlement =
      settlements.get(line.requestId) ?? (isTransfer(line) ? settlements.get(line.relatedId) : undefined);
    const outside = addresses.get(line.relatedId) ?? settlement?.counterparty ?? undefined;
    const status = statuses.get(line.relatedId) ?? firstStatus(line.relatedId);
    return { ...transactionMessage(line, settlement, outside, network), status };
  });
}

/** The statuses of the charges and payments among these ids. */
async function findStatuses(db: Database, orgId: string, ids: string[]): Promise<Map<string, string>> {
  const having = (prefix: string) => ids.filter((id) => prefixOf(id) === prefix);
  const [charges, payments] = await Promise.all([
    findCharges(db, orgId, having("chg")),
    findPayments(db, orgId, having("pay")),
  ]);
  return new Map([
    ...charges.map((charge) => [charge.chargeId, chargeStatus(charge)] as const),
    ...payments.map((payment) => [payment.paymentId, paymentStatus(payment)] as const),
  ]);
}

/** The status of a new charge or payment that is not projected yet. All other lines are COMPLETED. */
function firstStatus(relatedId: string): string {
  return { chg: "CHARGED", pay: "PAID" }[prefixOf(relatedId)] ?? "COMPLETED";
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

function transactionMessage(
  line: StatementLine,
  settlement: StoredSettlement | undefined,
  outside: string | undefined,
  network: string,
): Omit<WalletTransaction, "status"> {
  const posting = line.posting!;
  const amount = BigInt(posting.amountWon);
  return {
    walletId: posting.accountId,
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
    reference: line.reference,
    relatedId: line.relatedId,
    cancelId: CANCEL_PREFIXES.includes(prefixOf(line.requestId)) ? line.requestId : undefined,
    settlement: settlementMessage(settlement ?? pending(network)),
    createdAt: line.postedAt,
  };
}
