import { readAddress } from "@wonrail/kit/contract/address";
import { type Database } from "@wonrail/kit/db";
import { invalidRequest } from "@wonrail/kit/contract/errors";
import { cutPage, type Page } from "@wonrail/kit/page";
import { firstIdAt } from "@wonrail/kit/contract/ids";
import { type PageInfo } from "@wonrail/proto/common/v1/common";
import { type PaymentType, type RecordStatus, type TransactionRecord } from "../domain/record";
import * as records from "../store/listRecords";

export interface RecordQuery {
  orgId: string;
  status: RecordStatus | null;
  paymentType: PaymentType | null;
  /** Sender or recipient. */
  address: string | null;
  /** Creation time from this moment on, and before the next one. */
  from: Date | null;
  to: Date | null;
  reference?: string | undefined;
  minAmount?: bigint | undefined;
  maxAmount?: bigint | undefined;
  page: Page;
}

export async function listRecords(
  { db }: { db: Database },
  { orgId, address, from, to, page, ...exact }: RecordQuery,
): Promise<{ items: TransactionRecord[]; info: PageInfo }> {
  const known = address === null ? null : readAddress(address);
  if (address !== null && known === null) {
    const message = "must be 0x and 40 hex digits, with a correct checksum if mixed-case";
    throw invalidRequest([{ path: "address", message }]);
  }
  const filter = {
    ...exact,
    address: known,
    fromId: from && firstIdAt("txn", from),
    beforeId: to && firstIdAt("txn", to),
  };
  const { rows, total, stoppedAt } = await records.listRecords(db, orgId, filter, page);
  return cutPage(rows, page, ({ recordId }) => recordId, total, stoppedAt);
}
