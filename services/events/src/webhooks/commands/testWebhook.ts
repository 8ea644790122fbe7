import { DomainError } from "@wonrail/kit/contract/errors";
import { newId } from "@wonrail/kit/contract/ids";
import { type Database, tx } from "@wonrail/kit/db";
import { type Answered, type KeyedRequest, once } from "@wonrail/kit/idempotency";
import { type Delivery, insertTest } from "../store/deliveries";
import { lockWebhook } from "../store/webhooks";
import { type WebhookKey } from "./updateWebhook";

/** The type of a test. It is in no list of events. */
const TEST_TYPE = "webhook.test";

/** Sends a test to the endpoint, also while it is DISABLED. */
export async function testWebhook(
  { db }: { db: Database },
  { orgId, webhookId }: WebhookKey,
  keyed?: KeyedRequest,
): Promise<Answered<Delivery>> {
  return tx(db, (tx) =>
    once(tx, keyed, async () => {
      if (!(await lockWebhook(tx, orgId, webhookId))) throw new DomainError("WHK_001");
      const ids = { deliveryId: newId("dlv"), eventId: newId("evt") };
      return insertTest(tx, { orgId, webhookId, ...ids, eventType: TEST_TYPE });
    }),
  );
}
