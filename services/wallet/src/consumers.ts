import { type ConsumerSpec } from "@wonrail/kit/inbox";
import { type App } from "./app";

/** The wallet service consumes no events. */
export function consumers(_app: App): ConsumerSpec[] {
  return [];
}
