import { type ConsumerSpec } from "@wonrail/kit/inbox";
import { type App } from "./app";

/** No events come in. */
export function consumers(_app: App): ConsumerSpec[] {
  return [];
}
