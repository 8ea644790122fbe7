import { newId } from "../../contract/ids";
import type { FeedMessage } from "../planBatch";

export const TOPIC = "wonrail.auth.v1";

/** An event of one key, with its number in partition 0. */
export function messageOf(
  type: string,
  text: string,
  headers: Record<string, string> = {},
  number = Number(text),
): FeedMessage {
  return {
    topic: TOPIC,
    partition: 0,
    number: BigInt(number),
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
