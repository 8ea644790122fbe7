import { cutPage } from "@wonrail/kit/page";
import { type PageInfo } from "@wonrail/proto/common/v1/common";
import type * as message from "@wonrail/proto/payment/v1/payment";
import { refundMessage, withChangedMetadata } from "@wonrail/kit/records";
import { type ListWanted } from "../store/listRows";
import * as refunds from "../store/refunds";
import { readAdditions, type ReadDeps } from "./readRecord";

export async function listRefunds(
  deps: Pick<ReadDeps, "db" | "network">,
  wanted: ListWanted<never>,
): Promise<{ items: message.Refund[]; info: PageInfo }> {
  const { rows, total, stoppedAt } = await refunds.listRefunds(deps.db, wanted);
  const { items, info } = cutPage(rows, wanted.page, (row) => row.refundId, total, stoppedAt);
  const { settled, changed } = await readAdditions(
    deps,
    wanted.orgId,
    items.map((row) => row.refundId),
  );
  const now = items.map((refund) => withChangedMetadata({ refund }, changed).refund);
  return { items: now.map((row) => refundMessage(row, settled)), info };
}
