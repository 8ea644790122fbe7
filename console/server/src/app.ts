import express, { type Express } from "express";
import { createAddressLimits } from "@wonrail/kit/addressLimits";
import { createClientAddress } from "@wonrail/kit/clientAddress";
import { DomainError } from "@wonrail/kit/contract/errors";
import { type Database } from "@wonrail/kit/db";
import { type TlsIdentity } from "@wonrail/kit/grpc/client";
import { type Log } from "@wonrail/kit/log";
import { type Registry } from "@wonrail/kit/metrics";
import { createAdminRpcs } from "./adminRpcs";
import { type Config } from "./config";
import { createIdentityProvider } from "./identity/provider";
import { createLive } from "./live";
import { answerErrors, secureHeaders } from "./middleware/answer";
import { openExchange } from "./middleware/exchange";
import { createSessions } from "./middleware/sessions";
import { createMonitoring } from "./monitoring";
import { adminRoute } from "./routes/admin";
import { liveRoute } from "./routes/live";
import { sessionRoute } from "./routes/session";
import { signInRoutes } from "./routes/signIn";
import { site } from "./routes/site";
import { deleteOldSessions } from "./store/sessions";
import { deleteOldSignIns } from "./store/signIns";

export interface AppParts {
  config: Config;
  db: Database;
  log: Log;
  registry: Registry;
  tls?: TlsIdentity | undefined;
  /** Another folder than that of the built web part. */
  webFolder?: string | undefined;
  heartbeatMs?: number | undefined;
  limits?: typeof LIMITS | undefined;
}

/** Limits of one client address. */
export const LIMITS = { requests: { perSecond: 50, burst: 300 }, signIns: { perSecond: 0.2, burst: 20 } };

export interface App {
  handler: Express;
  /** Deletes sessions, sign-ins and links that are over. */
  deleteOld(): Promise<void>;
  close(): Promise<void>;
}

export function createApp(parts: AppParts): App {
  const { config, db, log, registry, tls, webFolder, heartbeatMs, limits = LIMITS } = parts;
  const monotonicMs = () => performance.now();
  const rpcs = createAdminRpcs({ addresses: config, log, registry, tls });
  const monitoring = createMonitoring({ prometheusUrl: config.PROMETHEUS_URL, log });
  const live = createLive({ rpcs, monitoring, registry });
  const sessions = createSessions({ db, settings: config });
  const provider = createIdentityProvider(config);
  const addressOf = createClientAddress({ trustedProxyHops: config.TRUSTED_PROXY_HOPS, log });
  const requestLimits = createAddressLimits({ ...limits.requests, monotonicMs });
  const signInLimits = createAddressLimits({ ...limits.signIns, monotonicMs });

  const handler = express().disable("x-powered-by").disable("etag").enable("case sensitive routing");
  handler.use(openExchange({ log, registry }), secureHeaders);
  handler.use((req, _res, next) => {
    const address = addressOf(req);
    requestLimits.check(address);
    requestLimits.take(address);
    next();
  });
  handler.use(
    signInRoutes({
      db,
      settings: config,
      provider,
      sessions,
      limits: signInLimits,
      addressOf,
      log,
      registry,
    }),
    sessionRoute({ rpcs, sessions, settings: config }),
    adminRoute({ rpcs, sessions, log, registry }),
    liveRoute({ live, sessions, heartbeatMs }),
    site(webFolder),
  );
  handler.use(({ method, path }) => {
    throw new DomainError("REQ_004", { method, path: path.slice(0, 200) });
  });
  handler.use(answerErrors(log));

  return {
    handler,
    async deleteOld() {
      await deleteOldSessions(db, { idleMs: config.SESSION_IDLE_MS, maxMs: config.SESSION_MAX_MS });
      await deleteOldSignIns(db);
    },
    async close() {
      await live.close();
      rpcs.close();
    },
  };
}
