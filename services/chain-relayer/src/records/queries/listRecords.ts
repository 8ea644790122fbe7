import { readAddress } from "@wonrail/kit/contract/address";
import { type Database } from "@wonrail/kit/db";
import { invalidRequest } from "@wonrail/kit/contract/errors";
import { cutPage, type Page } from "@wonrail/kit/page";
import { type PageInfo } from "@wonrail/proto/common/v1/common";
import { type PaymentType, type RecordStatus, type TransactionRecord } from "../domain/record";
import * as records from "../store/records";

export interface RecordQuery {
  orgId: string;
  status: RecordStatus | null;
  paymentType: PaymentType | null;
  /** Sender or recipient. */
  address: string | null;
  /** Creation time from this moment on, and before the next one. */
  from: Date | null;
  to: Date | null;
  page: Page;
}

/** Newest first. */
export async function listRecords(
  { db }: { db: Database },
  { orgId, status, paymentType, address, from, to, page }: RecordQuery,
): Promise<{ items: TransactionRecord[]; info: PageInfo }> {
  const known = address === null ? null : readAddress(address);
  if (address !== null && known === null) {
    const message = "must be 0x and 40 hex digits, with a correct checksum if mixed-case";
    throw invalidRequest([{ path: "address", message }]);
  }
  const filter = {
    status,
    paymentType,
    address: known,
    fromId: from && firstIdAt(from),
    beforeId: to && firstIdAt(to),
  };
  const { rows, total } = await records.listRecords(db, orgId, filter, page);
  return cutPage(rows, page, ({ recordId }) => recordId, total);
}

/** An id starts with its creation time in milliseconds, so ids sort by time. */
function firstIdAt(time: Date): string {
  return `txn_${Math.max(time.getTime(), 0).toString(16).padStart(12, "0")}`;
}
