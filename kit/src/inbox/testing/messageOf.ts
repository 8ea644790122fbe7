import type { ReceivedMessage } from "../../bus/port";
import { newId } from "../../contract/ids";

/** An event of its own, of one key, as it comes from the bus. */
export function messageOf(
  type: string,
  text: string,
  headers: Record<string, string> = {},
  offset = text,
): ReceivedMessage {
  return {
    topic: "wonrail.auth.v1",
    partition: 0,
    offset,
    timestampMs: 0,
    key: "key_1",
    value: Buffer.from(text),
    headers: {
      event_id: newId("evt"),
      event_type: type,
      aggregate_id: "key_1",
      version: "1",
      occurred_at: new Date().toISOString(),
      org_id: "org_1",
      traceparent: "00-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-01",
      request_id: "req_1",
      ...headers,
    },
  };
}
