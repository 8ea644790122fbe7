import { cutPage } from "@wonrail/kit/page";
import { type PageInfo } from "@wonrail/proto/common/v1/common";
import type * as message from "@wonrail/proto/payment/v1/payment";
import { transferMessage } from "@wonrail/kit/records";
import * as transfers from "../store/transfers";
import { type ListWanted, type ReadDeps, readSettlements } from "./readRecord";

export async function listTransfers(
  deps: Pick<ReadDeps, "db" | "network">,
  { orgId, walletId, page }: ListWanted,
): Promise<{ items: message.Transfer[]; info: PageInfo }> {
  const { rows, total } = await transfers.listTransfers(deps.db, orgId, walletId, page);
  const { items, info } = cutPage(rows, page, (row) => row.transferId, total);
  const ids = items.map((row) => row.transferId);
  const settled = await readSettlements(deps, orgId, ids);
  return { items: items.map((row) => transferMessage(row, settled)), info };
}
