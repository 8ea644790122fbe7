import { cutPage } from "@wonrail/kit/page";
import { type PageInfo } from "@wonrail/proto/common/v1/common";
import type * as message from "@wonrail/proto/payment/v1/payment";
import { settledIdsOf } from "@wonrail/kit/records";
import { paymentMessage } from "@wonrail/kit/records";
import * as payments from "../store/payments";
import { type ListWanted, type ReadDeps, readSettlements } from "./readRecord";

export async function listPayments(
  deps: Pick<ReadDeps, "db" | "network">,
  { orgId, walletId, page }: ListWanted,
): Promise<{ items: message.Payment[]; info: PageInfo }> {
  const { rows, total } = await payments.listPayments(deps.db, orgId, walletId, page);
  const { items, info } = cutPage(rows, page, (row) => row.paymentId, total);
  const settled = await readSettlements(deps, orgId, items.flatMap(settledIdsOf));
  return { items: items.map((row) => paymentMessage(row, settled)), info };
}
