import { type ConsumerSpec } from "@wonrail/kit/inbox";
import { type App } from "./app";

/** The way in by events: none, since nothing that happens elsewhere changes an organisation or a key. */
export function consumers(_app: App): ConsumerSpec[] {
  return [];
}
