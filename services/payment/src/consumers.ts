import { type ConsumerSpec } from "@wonrail/kit/inbox";
import { type App } from "./app";

/** The way in by events. */
export function consumers(_app: App): ConsumerSpec[] {
  return [];
}
