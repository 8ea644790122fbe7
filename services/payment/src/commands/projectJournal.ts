import { type Tx } from "@wonrail/kit/db";
import { failpoint } from "@wonrail/kit/failpoint";
import { type Entry } from "@wonrail/proto/ledger/v1/ledger";
import { type Records, recordsOf } from "@wonrail/kit/records";
import { saveChargeCancels, saveCharges } from "../store/charges";
import { savePaymentRefunds } from "../store/paymentRefunds";
import { savePayments } from "../store/payments";
import { saveRefunds } from "../store/refunds";
import { saveTransfers } from "../store/transfers";

export interface JournalEntry {
  orgId: string;
  entry: Entry;
}

/**
 * Writes the records of many entries, one statement per table. Entries may repeat and come in any order: each row keeps its
 * newest version. Rows are written in id order, so two transactions never wait for each other in a circle.
 */
export async function projectJournal(tx: Tx, entries: JournalEntry[]): Promise<void> {
  const all = entries.map(({ orgId, entry }) => recordsOf(orgId, entry));
  save(all, "transfer", (row) => row.transferId, saveTransfers);
  save(all, "charge", (row) => row.chargeId, saveCharges);
  save(all, "chargeCancel", (row) => row.cancelId, saveChargeCancels);
  save(all, "refund", (row) => row.refundId, saveRefunds);
  save(all, "payment", (row) => row.paymentId, savePayments);
  save(all, "paymentRefund", (row) => row.refundId, savePaymentRefunds);
  await failpoint("payment.projecting");

  function save<K extends keyof Records>(
    records: Records[],
    kind: K,
    idOf: (row: NonNullable<Records[K]>) => string,
    write: (tx: Tx, rows: NonNullable<Records[K]>[]) => void,
  ): void {
    const newest = new Map<string, NonNullable<Records[K]>>();
    for (const { [kind]: row } of records) {
      if (row === undefined) continue;
      const key = `${row.orgId}|${idOf(row)}`;
      const known = newest.get(key);
      if (!known || known.version < row.version) newest.set(key, row);
    }
    if (newest.size > 0) write(tx, [...newest.values()]);
  }
}
