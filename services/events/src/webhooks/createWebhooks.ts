import { DomainError } from "@wonrail/kit/contract/errors";
import { type SandboxClock } from "@wonrail/kit/contract/sandboxClock";
import { type Database } from "@wonrail/kit/db";
import { type KeyedRequest } from "@wonrail/kit/idempotency";
import { fileKms } from "@wonrail/kit/kms";
import { Gauge, type Registry } from "@wonrail/kit/metrics";
import { cutPage, type Page } from "@wonrail/kit/page";
import { type ServiceParts } from "@wonrail/kit/service";
import { createWebhook, type NewWebhookInput } from "./commands/createWebhook";
import { replayWebhook, type ReplayWanted } from "./commands/replayWebhook";
import { rotateSecret } from "./commands/rotateSecret";
import { setClock } from "./commands/setClock";
import { testWebhook } from "./commands/testWebhook";
import { updateWebhook, type WebhookChange, type WebhookKey } from "./commands/updateWebhook";
import { warnFailing } from "./commands/warnFailing";
import { startDispatcher } from "./createDispatcher";
import { getWebhook } from "./queries/getWebhook";
import { listDeliveries } from "./queries/listDeliveries";
import { createSecrets } from "./secrets";
import { createUrlCheck } from "./sender/checkUrl";
import { createSender } from "./sender/postDelivery";
import { createResolver } from "./sender/resolveHost";
import { deleteOldDeliveries } from "./store/deliveries";
import { countStates, deleteWebhook, listWebhooks } from "./store/webhooks";

interface WebhooksParts extends Pick<ServiceParts<never>, "db" | "log" | "registry" | "onClose"> {
  /** The file of the key-encryption keys that seal secrets. */
  kekPath: string;
  /** For the local stack: endpoints may be on this machine. */
  isLoopbackAllowed: boolean;
}

/** Finished deliveries are kept as long as events. */
const KEEP_MS = 30 * 86_400_000;
const WINDOW = 2_000;

/** The commands and queries of webhooks, bound to their dependencies, and the dispatcher of deliveries. */
export function createWebhooks({ db, log, registry, onClose, kekPath, isLoopbackAllowed }: WebhooksParts) {
  const rules = { isLoopbackAllowed };
  const secrets = createSecrets(fileKms(kekPath));
  const resolve = createResolver();
  const sender = createSender({ ...rules, resolve });
  const dispatcher = startDispatcher({ db, log, registry, sender, secrets });
  onClose("dispatcher", () => dispatcher.close());
  onClose("sender", () => sender.close());
  measure(db, registry);
  const deps = { db, secrets, checkUrl: createUrlCheck(rules, resolve) };

  return {
    /** There are new events. */
    wake: () => dispatcher.wake(),
    createWebhook: (input: NewWebhookInput) => createWebhook(deps, input),
    updateWebhook: (key: WebhookKey, change: WebhookChange) => updateWebhook(deps, key, change),
    rotateSecret: (key: WebhookKey, overlapMs: number, keyed?: KeyedRequest) =>
      rotateSecret(deps, key, overlapMs, keyed),
    async testWebhook(key: WebhookKey, keyed?: KeyedRequest) {
      const answered = await testWebhook(deps, key, keyed);
      dispatcher.wake();
      return answered;
    },
    replayWebhook: (key: WebhookKey, wanted: ReplayWanted, keyed?: KeyedRequest) =>
      replayWebhook(deps, key, wanted, keyed),
    async deleteWebhook({ orgId, webhookId }: WebhookKey) {
      if (!(await deleteWebhook(db, orgId, webhookId))) throw new DomainError("WHK_001");
    },
    getWebhook: (key: WebhookKey) => getWebhook(deps, key),
    async listWebhooks(orgId: string, page: Page) {
      const { rows, total } = await listWebhooks(db, orgId, page);
      return cutPage(rows, page, ({ webhookId }) => webhookId, total);
    },
    listDeliveries: (key: Parameters<typeof listDeliveries>[1], page: Page) =>
      listDeliveries(deps, key, page),
    setClock: async (clock: SandboxClock) => {
      await setClock(deps, clock);
      dispatcher.wake();
    },
    warnFailing: () => warnFailing(deps),
    async deleteOldDeliveries(signal: AbortSignal) {
      while (!signal.aborted && (await deleteOldDeliveries(db, KEEP_MS, WINDOW)) === WINDOW);
    },
  };
}

function measure(db: Database, registry: Registry): void {
  new Gauge({
    name: "webhook_endpoints",
    help: "Endpoints of partners that fail or that this service disabled, by state; warned_50: failing for half of five days",
    labelNames: ["state"],
    registers: [registry],
    collect() {
      return countStates(db).then(
        (counts) => {
          for (const [state, count] of Object.entries(counts)) this.set({ state }, count);
        },
        () => this.reset(),
      );
    },
  });
}
