import { deleteOldKeys } from "@wonrail/kit/idempotency";
import { hasSandbox } from "@wonrail/kit/contract/networks";
import { type ServiceParts } from "@wonrail/kit/service";
import { type Config } from "./config";
import { createFeed } from "./feed";
import { createWebhooks } from "./webhooks";

export type App = Awaited<ReturnType<typeof createApp>>;

/** Table of contents: every command and query, bound to its dependencies. */
export async function createApp(parts: ServiceParts<Config>) {
  const { config } = parts;
  const { onEvents, ...feed } = await createFeed({ ...parts, network: config.NETWORK });
  const { wake, setClock, ...webhooks } = createWebhooks({
    ...parts,
    kekPath: config.WEBHOOK_KEK_PATH,
    isLoopbackAllowed: config.WEBHOOK_ALLOW_LOOPBACK,
  });
  onEvents(wake);
  const deleteOldIdempotencyKeys = (signal: AbortSignal) => deleteOldKeys(parts.db, signal);
  /** Null on a main network. */
  const sandbox = hasSandbox(config.NETWORK) ? { setClock } : null;
  return { ...feed, ...webhooks, sandbox, deleteOldIdempotencyKeys };
}
