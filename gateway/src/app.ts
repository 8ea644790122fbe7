import express, { type Express } from "express";
import { hasSandbox } from "@wonrail/kit/contract/networks";
import { newId } from "@wonrail/kit/contract/ids";
import { type Log } from "@wonrail/kit/log";
import { type Registry } from "@wonrail/kit/metrics";
import { never } from "@wonrail/kit/contract/errors";
import { type Clients } from "./clients";
import { type Config } from "./config";
import { createAddressLimits } from "@wonrail/kit/addressLimits";
import { authCalls } from "./middleware/authCalls";
import { answerErrors, MethodNotAllowedError, refuseUnknownRoute } from "./middleware/answerErrors";
import { createClientAddress } from "@wonrail/kit/clientAddress";
import { eventStream } from "./middleware/eventStream";
import { openExchange } from "./middleware/exchange";
import { CONNECTION_LIMITS, type ConnectionLimits, createConnections } from "./middleware/connections";
import { createPrincipals } from "./middleware/principals";
import { createQuotas } from "./middleware/quotas";
import { createRates } from "./middleware/rates";
import { createRunningCalls } from "./middleware/runningCalls";
import { serve, type ServeOptions } from "./middleware/serve";
import { type Change, watchChanges } from "./middleware/watchChanges";
import { routes } from "./routes";
import { openApiDocument } from "./routes/openapi";
import { type Route } from "./routes/operation";
import { pages } from "./routes/pages";
import { rehearseRefusal } from "./routes/rehearseRefusal";
import { site, SITE_FOLDER } from "./routes/site";

export interface AppParts {
  config: Config;
  clients: Clients;
  log: Log;
  registry: Registry;
  /** Routes for tests, beside the contract's own. */
  extraRoutes?: Route[];
  connectionLimits?: ConnectionLimits;
  /** Another folder than that of the built documentation site. */
  siteFolder?: string | undefined;
}

export interface App {
  handler: Express;
  /** Rejects until auth's stream of changes has been open once. */
  ready(): Promise<void>;
  /** From now on each connection is closed after its answer. */
  stopKeepingAlive(): void;
  /** Returns leases and stops listening for changes. */
  close(): Promise<void>;
}

/** Reports that one organisation reads at once from this process. */
const MAX_REPORTS = 5;

export function createApp(parts: AppParts): App {
  const { config, clients, log, registry, extraRoutes = [], connectionLimits = CONNECTION_LIMITS } = parts;
  const { siteFolder = SITE_FOLDER } = parts;
  const monotonicMs = () => performance.now();
  const connections = createConnections({ log, registry, limits: connectionLimits, monotonicMs });
  const auth = authCalls(clients.auth, newId("req"));
  const principals = createPrincipals({
    resolveKey: auth.resolveKey,
    // auth refuses an address after about 20 wrong keys, but still admits valid ones. This limit
    // only keeps floods away from auth.
    guesses: createAddressLimits({ perSecond: 50, burst: 200, monotonicMs }),
    registry,
    outageGraceMs: config.AUTH_OUTAGE_GRACE_MS,
    monotonicMs,
    nowMs: Date.now,
  });
  const rates = createRates({ leaseRate: auth.leaseRate, registry, monotonicMs });
  const quotas = createQuotas({ leaseQuota: auth.leaseQuota, log, monotonicMs });
  let wasConnected = false;
  const watch = watchChanges({ open: auth.changes, onChange, log, registry });

  function onChange(change: Change): void {
    switch (change.kind) {
      case "started":
        wasConnected = true;
        return principals.markAllStale();
      case "heartbeat":
        return;
      case "keyRevoked":
        return principals.forgetKey(change.keyId);
      case "organisationChanged":
        quotas.reconsider(change.orgId);
        return principals.forgetOrganisation(change.orgId);
      case "quotaRecalled":
        return quotas.recall(change.orgId, change.quota);
      default:
        return never(change);
    }
  }

  const lifecycle = { isStopping: false };
  const sandbox = hasSandbox(config.NETWORK);
  const table = routes({ clients, principals }).filter(({ operation }) => sandbox || !operation.sandboxOnly);
  const handler = express().disable("x-powered-by").disable("etag");
  // A path that ends with a slash is another path: "/api/events/" is no list of events.
  handler.enable("case sensitive routing").enable("strict routing");
  // Operations parse their queries strictly.
  handler.set("query parser", false);
  handler.use(openExchange({ log, registry, lifecycle, connections, budgetMs: config.REQUEST_BUDGET_MS }));
  const openRates = createAddressLimits({ perSecond: 20, burst: 100, monotonicMs });
  const addressOf = createClientAddress({ trustedProxyHops: config.TRUSTED_PROXY_HOPS, log });
  const serving: ServeOptions = {
    principals,
    rates,
    quotas,
    running: createRunningCalls(),
    streaming: createRunningCalls(MAX_REPORTS),
    openRates,
    addressOf,
    log,
    rehearse: sandbox ? rehearseRefusal : null,
    checkAnswers: config.NODE_ENV !== "production",
  };
  // Before the path of a single event, which would match it too.
  handler.use(eventStream(clients.events, serving));
  addRoutes(handler, [...table, ...extraRoutes], serving);
  handler.use(pages(openApiDocument(table), { openRates, addressOf }));
  const siteRates = createAddressLimits({ perSecond: 50, burst: 300, monotonicMs });
  handler.use(site({ folder: siteFolder, siteRates, addressOf }));
  handler.use(refuseUnknownRoute);
  handler.use(answerErrors(log));

  return {
    handler,
    async ready() {
      if (!wasConnected) throw new Error("auth has not been reached yet");
    },
    stopKeepingAlive: () => void (lifecycle.isStopping = true),
    async close() {
      connections.close();
      await watch.close();
      await quotas.close();
    },
  };
}

/** Registers one Express route per path, so that 405 answers can list the path's methods. */
function addRoutes(app: Express, table: Route[], options: ServeOptions): void {
  for (const path of new Set(table.map((route) => route.path))) {
    const here = table.filter((route) => route.path === path);
    const allow = here.flatMap(({ method }) => (method === "GET" ? ["GET", "HEAD"] : [method])).join(", ");
    const place = app.route(path);
    for (const route of here) {
      place[route.method.toLowerCase() as Lowercase<typeof route.method>](serve(route, options));
    }
    place.all(() => {
      throw new MethodNotAllowedError(allow);
    });
  }
}
