import type { Pool } from "pg";
import { DURATION_BUCKETS_SECONDS, Gauge, Histogram, shared, type Registry } from "../metrics";
import type { ObserveQuery } from "./session";

/** The schema distinguishes the pools of a process. */
export function watchPool(registry: Registry, schema: string, pool: Pool): () => void {
  const pools = poolsOf(registry);
  pools.set(schema, pool);
  return () => {
    if (pools.get(schema) === pool) pools.delete(schema);
  };
}

export function queryTimer(registry: Registry | undefined): ObserveQuery {
  if (!registry) return () => undefined;
  const histogram = shared(registry, "db_query_duration_seconds", (name) => {
    return new Histogram({
      name,
      help: "How long named statements took, from sending to the last row, with the wait for earlier statements of the transaction",
      labelNames: ["query"],
      buckets: DURATION_BUCKETS_SECONDS,
      registers: [registry],
    });
  });
  const children = new Map<string, { observe(seconds: number): void }>();
  return (query, seconds) => {
    let child = children.get(query);
    if (!child) children.set(query, (child = histogram.labels(query)));
    child.observe(seconds);
  };
}

const poolsByRegistry = new WeakMap<Registry, Map<string, Pool>>();

function poolsOf(registry: Registry): Map<string, Pool> {
  const known = poolsByRegistry.get(registry);
  if (known) return known;
  const pools = new Map<string, Pool>();
  poolsByRegistry.set(registry, pools);
  gauge("pg_pool_total", "Connections of the pool", (pool) => pool.totalCount);
  gauge("pg_pool_idle", "Connections of the pool that are not in use", (pool) => pool.idleCount);
  gauge("pg_pool_waiting", "Callers that wait for a connection", (pool) => pool.waitingCount);
  return pools;

  function gauge(name: string, help: string, read: (pool: Pool) => number): void {
    new Gauge({
      name,
      help,
      labelNames: ["schema"],
      registers: [registry],
      collect() {
        this.reset();
        for (const [schema, pool] of pools) this.set({ schema }, read(pool));
      },
    });
  }
}
