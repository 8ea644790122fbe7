import { type Database } from "@wonrail/kit/db";
import { cutPage, type Page } from "@wonrail/kit/page";
import { type PageInfo } from "@wonrail/proto/common/v1/common";
import type * as message from "@wonrail/proto/payment/v1/payment";
import { ledgerRefsOf } from "../domain/payment";
import { paymentMessage } from "../messages";
import * as payments from "../store/payments";
import { findSettlements } from "../store/settlements";

export async function listPayments(
  { db, network }: { db: Database; network: string },
  { orgId, walletId, page }: { orgId: string; walletId: string | null; page: Page },
): Promise<{ items: message.Payment[]; info: PageInfo }> {
  const { rows, total } = await payments.listPayments(db, orgId, walletId, page);
  const { items, info } = cutPage(rows, page, (row) => row.paymentId, total);
  const settlements = await findSettlements(db, orgId, items.flatMap(ledgerRefsOf));
  return { items: items.map((row) => paymentMessage(row, network, settlements)), info };
}
