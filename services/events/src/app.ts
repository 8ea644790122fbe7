import { type ServiceParts } from "@wonrail/kit/service";
import { type Config } from "./config";
import { createFeed } from "./feed";

export type App = Awaited<ReturnType<typeof createApp>>;

/** Table of contents: every command and query, bound to its dependencies. */
export async function createApp(parts: ServiceParts<Config>) {
  return createFeed({ ...parts, network: parts.config.NETWORK });
}
