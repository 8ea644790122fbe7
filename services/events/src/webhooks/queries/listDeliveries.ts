import { type PageInfo } from "@wonrail/proto/common/v1/common";
import { type Database } from "@wonrail/kit/db";
import { cutPage, type Page } from "@wonrail/kit/page";
import { type WebhookKey } from "../commands/updateWebhook";
import { type Attempt, findAttempts } from "../store/attempts";
import { type Delivery, listDeliveries as readDeliveries } from "../store/deliveries";
import { getWebhook } from "./getWebhook";

export interface DeliveryWithAttempts extends Delivery {
  tries: Attempt[];
}

/** Lists deliveries, newest first, each with its attempts. */
export async function listDeliveries(
  { db }: { db: Database },
  key: WebhookKey & { status: Delivery["status"] | null },
  page: Page,
): Promise<{ items: DeliveryWithAttempts[]; info: PageInfo; url: string }> {
  const { url } = await getWebhook({ db }, key);
  const { rows, total } = await readDeliveries(db, key, page);
  const { items, info } = cutPage(rows, page, ({ deliveryId }) => deliveryId, total);
  const attempts = await findAttempts(db, items);
  return { items: items.map((each) => ({ ...each, tries: attempts.get(each.deliveryId) ?? [] })), info, url };
}
