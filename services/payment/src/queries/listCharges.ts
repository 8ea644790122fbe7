import { type Database } from "@wonrail/kit/db";
import { cutPage, type Page } from "@wonrail/kit/page";
import { type PageInfo } from "@wonrail/proto/common/v1/common";
import type * as message from "@wonrail/proto/payment/v1/payment";
import { chargeMessage } from "../messages";
import * as charges from "../store/charges";
import { findSettlements } from "../store/settlements";

export async function listCharges(
  { db, network }: { db: Database; network: string },
  { orgId, walletId, page }: { orgId: string; walletId: string | null; page: Page },
): Promise<{ items: message.Charge[]; info: PageInfo }> {
  const { rows, total } = await charges.listCharges(db, orgId, walletId, page);
  const { items, info } = cutPage(rows, page, (row) => row.chargeId, total);
  const ids = items.map((row) => row.chargeId);
  const settlements = await findSettlements(db, orgId, ids);
  return { items: items.map((row) => chargeMessage(row, network, settlements.get(row.chargeId))), info };
}
