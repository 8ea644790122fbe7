import { type ConsumerSpec } from "@wonrail/kit/inbox";
import { type App } from "./app";

/** auth consumes no events: no other service's event changes an organisation or a key. */
export function consumers(_app: App): ConsumerSpec[] {
  return [];
}
