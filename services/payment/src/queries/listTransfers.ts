import { type Database } from "@wonrail/kit/db";
import { cutPage, type Page } from "@wonrail/kit/page";
import { type PageInfo } from "@wonrail/proto/common/v1/common";
import type * as message from "@wonrail/proto/payment/v1/payment";
import { transferMessage } from "../messages";
import * as transfers from "../store/transfers";
import { findSettlements } from "../store/settlements";

export async function listTransfers(
  { db, network }: { db: Database; network: string },
  { orgId, walletId, page }: { orgId: string; walletId: string | null; page: Page },
): Promise<{ items: message.Transfer[]; info: PageInfo }> {
  const { rows, total } = await transfers.listTransfers(db, orgId, walletId, page);
  const { items, info } = cutPage(rows, page, (row) => row.transferId, total);
  const ids = items.map((row) => row.transferId);
  const settlements = await findSettlements(db, orgId, ids);
  return { items: items.map((row) => transferMessage(row, network, settlements.get(row.transferId))), info };
}
