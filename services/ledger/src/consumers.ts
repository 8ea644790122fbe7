import { type ConsumerSpec } from "@wonrail/kit/inbox";
import { type App } from "./app";

/** The ledger consumes no events. Callers move money by RPC and wait for the answer. */
export function consumers(_app: App): ConsumerSpec[] {
  return [];
}
