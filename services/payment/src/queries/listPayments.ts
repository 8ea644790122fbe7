import { cutPage } from "@wonrail/kit/page";
import { type PageInfo } from "@wonrail/proto/common/v1/common";
import type * as message from "@wonrail/proto/payment/v1/payment";
import { paymentMessage, settledIdsOf, withChangedMetadata } from "@wonrail/kit/records";
import { type ListWanted } from "../store/listRows";
import * as payments from "../store/payments";
import { readAdditions, type ReadDeps } from "./readRecord";

export async function listPayments(
  deps: Pick<ReadDeps, "db" | "network">,
  wanted: ListWanted<payments.PaymentStatus>,
): Promise<{ items: message.Payment[]; info: PageInfo }> {
  const { rows, total, stoppedAt } = await payments.listPayments(deps.db, wanted);
  const { items, info } = cutPage(rows, wanted.page, (row) => row.paymentId, total, stoppedAt);
  const { settled, changed } = await readAdditions(deps, wanted.orgId, items.flatMap(settledIdsOf));
  const now = items.map((payment) => withChangedMetadata({ payment }, changed).payment);
  return { items: now.map((row) => paymentMessage(row, settled)), info };
}
