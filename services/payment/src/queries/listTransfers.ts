import { cutPage } from "@wonrail/kit/page";
import { type PageInfo } from "@wonrail/proto/common/v1/common";
import type * as message from "@wonrail/proto/payment/v1/payment";
import { type Transfer, transferMessage, withChangedMetadata } from "@wonrail/kit/records";
import { type ListWanted } from "../store/listRows";
import * as transfers from "../store/transfers";
import { readAdditions, type ReadDeps } from "./readRecord";

export async function listTransfers(
  deps: Pick<ReadDeps, "db" | "network">,
  wanted: ListWanted<Transfer["status"]>,
): Promise<{ items: message.Transfer[]; info: PageInfo }> {
  const { rows, total, stoppedAt } = await transfers.listTransfers(deps.db, wanted);
  const { items, info } = cutPage(rows, wanted.page, (row) => row.transferId, total, stoppedAt);
  const { settled, changed } = await readAdditions(
    deps,
    wanted.orgId,
    items.map((row) => row.transferId),
  );
  const now = items.map((transfer) => withChangedMetadata({ transfer }, changed).transfer);
  return { items: now.map((row) => transferMessage(row, settled)), info };
}
