import { type ConsumerSpec } from "@wonrail/kit/inbox";
import { type App } from "./app";

/** No events come in: no other service's event changes an organisation or a key. */
export function consumers(_app: App): ConsumerSpec[] {
  return [];
}
