import { setTimeout as sleep } from "node:timers/promises";
import { childTraceparent, runInContext } from "@wonrail/kit/context";
import { newId } from "@wonrail/kit/contract/ids";
import { type Json, type JsonObject } from "@wonrail/kit/json";
import { Gauge, type Registry } from "@wonrail/kit/metrics";
import { type AdminRpc, type AdminRpcs } from "./adminRpcs";
import { refusalOf } from "./middleware/answer";
import { type MonitoringReader } from "./monitoring";

const EVERY_MS = 3_000;
const TIMEOUT_MS = 2_500;

/** Reads that pages show besides the RPCs named GetOverview, with their requests. */
const WATCHED: Record<string, JsonObject> = {
  "wonrail.relayer.v1.RelayerAdminService/ListQueues": {},
  "wonrail.relayer.v1.RelayerAdminService/ListOpenOperations": { olderThanSeconds: 0, limit: 100 },
  "wonrail.relayer.v1.RelayerAdminService/ListDrifts": { limit: 20 },
  "wonrail.events.v1.EventsAdminService/ListConsumers": {},
  "wonrail.common.v1.AdminService/ListDeadLetters": { state: "DEAD_LETTER_STATE_DEAD", limit: 20 },
};

/** The reader of the shared poll. Its reads leave no trace in an audit trail. */
const READER = { name: "console", roles: ["viewer" as const] };

export type Listener = (state: string) => void;

export interface Live {
  /** Calls back with each new state, and at once with the last one. Returns the end of it. */
  listen(listener: Listener): () => void;
  close(): Promise<void>;
}

export interface LiveParts {
  rpcs: AdminRpcs;
  monitoring: MonitoringReader;
  registry: Registry;
}

/** Polls the services and Prometheus while a page listens. All listeners share one poll. */
export function createLive({ rpcs, monitoring, registry }: LiveParts): Live {
  const listeners = new Set<Listener>();
  const closing = new AbortController();
  let last: string | undefined;
  let polling: Promise<void> | undefined;
  new Gauge({
    name: "console_live_listeners",
    help: "Pages that receive the live state",
    registers: [registry],
    collect() {
      this.set(listeners.size);
    },
  });

  async function poll(): Promise<void> {
    while (listeners.size > 0 && !closing.signal.aborted) {
      const [answers, watched] = await Promise.all([readAll(rpcs), monitoring.read()]);
      const state = JSON.stringify({ at: new Date().toISOString(), answers, monitoring: watched });
      last = state;
      for (const listener of listeners) listener(state);
      await sleep(EVERY_MS, undefined, { signal: closing.signal }).catch(() => undefined);
    }
    polling = undefined;
    last = undefined;
  }

  return {
    listen(listener) {
      listeners.add(listener);
      if (last !== undefined) listener(last);
      polling ??= poll();
      return () => void listeners.delete(listener);
    },
    async close() {
      closing.abort();
      listeners.clear();
      await polling;
    },
  };
}

function readAll(rpcs: AdminRpcs): Promise<Json[]> {
  const reads = rpcs.list().filter(isWatched);
  const context = {
    requestId: newId("req"),
    traceparent: childTraceparent(),
    deadlineMs: Date.now() + TIMEOUT_MS,
  };
  return runInContext(context, () =>
    Promise.all(
      reads.flatMap((rpc) =>
        rpc.services.map(async (service): Promise<Json> => {
          const place = { service, method: rpc.method };
          try {
            return { ...place, response: await rpcs.call(rpc, service, READER, WATCHED[rpc.method] ?? {}) };
          } catch (error) {
            const { code, message, details } = refusalOf(error);
            return { ...place, error: { code, message, details } };
          }
        }),
      ),
    ),
  );
}

function isWatched({ method, rule }: AdminRpc): boolean {
  return rule.role === "viewer" && (method in WATCHED || method.endsWith("/GetOverview"));
}
