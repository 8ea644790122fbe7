import { Counter, Gauge, Histogram, Registry, collectDefaultMetrics, type Metric } from "prom-client";

export { Counter, Gauge, Histogram, Registry };

export interface BuildInfo {
  service: string;
  version: string;
  commit: string;
}

/** Seconds. The service levels of the alerts (0.1 and 0.5) are edges, so that a burn rate is exact. */
export const DURATION_BUCKETS_SECONDS = [
  0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10,
];

/**
 * Interval of the event loop's measurement. prom-client's own, 10 ms, causes most wake-ups of an
 * idle process.
 */
const LOOP_LOOKED_AT_MS = 50;

/** One registry per process. */
export function createRegistry(build: BuildInfo): Registry {
  const registry = new Registry();
  collectDefaultMetrics({ register: registry, eventLoopMonitoringPrecision: LOOP_LOOKED_AT_MS });
  new Gauge({
    name: "build_info",
    help: "Always 1; the labels name the version and commit of this process",
    labelNames: ["service", "version", "commit"],
    registers: [registry],
  }).set({ ...build }, 1);
  return registry;
}

/**
 * The registry's metric of this name, created at the first use: two pools or queues of a process
 * share it.
 */
export function shared<M extends Metric>(registry: Registry, name: string, create: (name: string) => M): M {
  return (registry.getSingleMetric(name) as M | undefined) ?? create(name);
}
