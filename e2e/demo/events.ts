import { startReceiver } from "../money/receiver";
import { type Json } from "../support/api";
import { screen } from "./screen";
import { until, type Demo } from "./demo";

const SHOWN = 5;

/** The newest events, and a delivery to an endpoint. */
export async function eventsChapter({ api }: Demo): Promise<void> {
  screen.chapter("Events and webhooks");
  const { items } = await api.get(`/api/events?order=desc&limit=${SHOWN}`);
  for (const { sequence, type, objectId } of (items as Json[]).reverse())
    screen.line(`${sequence}  ${type}  ${objectId}`);
  const receiver = await startReceiver();
  try {
    const { webhookId } = await api.post("/api/webhooks", { url: receiver.url });
    await api.post(`/api/webhooks/${webhookId}/test`, undefined);
    const { headers } = await receiver.until(({ body }) => body.includes(webhookId));
    screen.line(`${receiver.url} gets webhook-id ${headers["webhook-id"]}, signed`);
    const { items: deliveries } = await until(
      () => api.get(`/api/webhooks/${webhookId}/deliveries`),
      (page) => page.items[0]?.status === "DELIVERED",
    );
    screen.done(`the delivery is ${deliveries[0].status} after ${deliveries[0].attempts.length} attempt`);
    await api.call("DELETE", `/api/webhooks/${webhookId}`);
  } finally {
    await receiver.close();
  }
}
