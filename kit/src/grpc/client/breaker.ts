import CircuitBreaker from "opossum";
import { DomainError } from "../../contract/errors";
import { Counter, Gauge, type Registry, shared } from "../../metrics";

export interface BreakerSettings {
  /** The dependency's name. */
  name: string;
  registry: Registry;
  /** Time in the open state before one call may try. */
  resetTimeoutMs: number;
  /** Fewer calls than this within ten seconds prove nothing. */
  volumeThreshold: number;
}

export interface Breaker {
  /** Runs `work`, or refuses with SYS_002 when the breaker is open. `blames` says whether an error is the dependency's fault. */
  run<T>(work: () => Promise<T>, blames: (error: unknown) => boolean): Promise<T>;
  close(): void;
}

/**
 * One per dependency. It has no timeout of its own: opossum's does not stop the work, and would
 * report a money movement with an unknown outcome as failed. Each call's deadline is its timeout.
 */
export function createBreaker({ name, registry, resetTimeoutMs, volumeThreshold }: BreakerSettings): Breaker {
  const breaker = new CircuitBreaker((work: () => Promise<unknown>, _blames: Blames) => work(), {
    name,
    timeout: false,
    resetTimeout: resetTimeoutMs,
    volumeThreshold,
    errorThresholdPercentage: 50,
    // opossum hands the arguments of the call along; its types do not know.
    errorFilter: ((error: unknown, _work: unknown, blames: Blames) => !blames(error)) as ErrorFilter,
    rollingPercentilesEnabled: false,
    enableSnapshots: false,
  });
  measure(breaker, name, registry);
  return {
    async run<T>(work: () => Promise<T>, blames: Blames) {
      try {
        return (await breaker.fire(work, blames)) as T;
      } catch (error) {
        if (!CircuitBreaker.isOurError(error as Error)) throw error;
        const cause = new Error(`the breaker of ${name}`, { cause: error });
        throw new DomainError("SYS_002", { retryAfterMs: resetTimeoutMs }, { cause });
      }
    },
    close: () => breaker.shutdown(),
  };
}

type Blames = (error: unknown) => boolean;
type ErrorFilter = (error: unknown) => boolean;

const STATES = ["closed", "half_open", "open"] as const;

function measure(
  breaker: CircuitBreaker<[() => Promise<unknown>, Blames]>,
  name: string,
  registry: Registry,
): void {
  const state = shared(registry, "circuit_breaker_state", (metricName) => {
    const help = "1 for the state that the breaker of a dependency is in, 0 for the others";
    return new Gauge({ name: metricName, help, labelNames: ["name", "state"], registers: [registry] });
  });
  const events = shared(registry, "circuit_breaker_events_total", (metricName) => {
    const help = "Events of the circuit breaker of a dependency, by kind";
    return new Counter({ name: metricName, help, labelNames: ["name", "event"], registers: [registry] });
  });
  const enter = (current: (typeof STATES)[number]) => {
    for (const each of STATES) state.set({ name, state: each }, each === current ? 1 : 0);
  };
  const count = (event: string) => {
    const child = events.labels({ name, event });
    child.inc(0);
    return () => child.inc();
  };
  enter("closed");
  breaker.on("success", count("success"));
  breaker.on("failure", count("failure"));
  breaker.on("reject", count("reject"));
  breaker.on("open", count("open")).on("open", () => enter("open"));
  breaker.on("halfOpen", count("half_open")).on("halfOpen", () => enter("half_open"));
  breaker.on("close", count("close")).on("close", () => enter("closed"));
}
