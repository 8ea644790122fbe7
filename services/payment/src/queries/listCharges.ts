import { cutPage } from "@wonrail/kit/page";
import { type PageInfo } from "@wonrail/proto/common/v1/common";
import type * as message from "@wonrail/proto/payment/v1/payment";
import { chargeMessage, withChangedMetadata } from "@wonrail/kit/records";
import { type ListWanted } from "../store/listRows";
import * as charges from "../store/charges";
import { readAdditions, type ReadDeps } from "./readRecord";

export async function listCharges(
  deps: Pick<ReadDeps, "db" | "network">,
  wanted: ListWanted<charges.ChargeStatus>,
): Promise<{ items: message.Charge[]; info: PageInfo }> {
  const { rows, total, stoppedAt } = await charges.listCharges(deps.db, wanted);
  const { items, info } = cutPage(rows, wanted.page, (row) => row.chargeId, total, stoppedAt);
  const { settled, changed } = await readAdditions(
    deps,
    wanted.orgId,
    items.map((row) => row.chargeId),
  );
  const now = items.map((charge) => withChangedMetadata({ charge }, changed).charge);
  return { items: now.map((row) => chargeMessage(row, settled)), info };
}
