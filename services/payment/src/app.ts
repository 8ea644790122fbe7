import { type ServiceParts } from "@wonrail/kit/service";
import { type Config } from "./config";

export type App = ReturnType<typeof createApp>;

/** Table of contents: every command and query, bound to what it needs. */
export function createApp(_parts: ServiceParts<Config>) {
  return {};
}
