import { cutPage } from "@wonrail/kit/page";
import { type PageInfo } from "@wonrail/proto/common/v1/common";
import type * as message from "@wonrail/proto/payment/v1/payment";
import { chargeMessage } from "@wonrail/kit/records";
import * as charges from "../store/charges";
import { type ListWanted, type ReadDeps, readSettlements } from "./readRecord";

export async function listCharges(
  deps: Pick<ReadDeps, "db" | "network">,
  { orgId, walletId, page }: ListWanted,
): Promise<{ items: message.Charge[]; info: PageInfo }> {
  const { rows, total } = await charges.listCharges(deps.db, orgId, walletId, page);
  const { items, info } = cutPage(rows, page, (row) => row.chargeId, total);
  const ids = items.map((row) => row.chargeId);
  const settled = await readSettlements(deps, orgId, ids);
  return { items: items.map((row) => chargeMessage(row, settled)), info };
}
