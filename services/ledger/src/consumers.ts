import { type ConsumerSpec } from "@wonrail/kit/inbox";
import { type App } from "./app";

/** The way in by events: there is none. Whoever wants money to move says so by RPC and waits for the answer. */
export function consumers(_app: App): ConsumerSpec[] {
  return [];
}
