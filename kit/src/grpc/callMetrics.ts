import { status } from "@grpc/grpc-js";
import { Counter, DURATION_BUCKETS_SECONDS, Histogram, type Registry, shared } from "../metrics";
import { kindOf, type MethodDefinition, nameOf } from "./definition";

/** Called when a call starts; the returned function is called when it ends. */
export type ObserveCall = () => (code: status) => void;

/**
 * The usual go-grpc-prometheus metrics, for one side of the wire. Several clients of a process
 * share them.
 */
export function callMetrics(
  side: "server" | "client",
  registry: Registry,
): (method: MethodDefinition) => ObserveCall {
  const labelNames = ["grpc_service", "grpc_method", "grpc_type"] as const;
  const started = shared(registry, `grpc_${side}_started_total`, (name) => {
    return new Counter({ name, help: `Calls started on the ${side}`, labelNames, registers: [registry] });
  });
  const handled = shared(registry, `grpc_${side}_handled_total`, (name) => {
    const labels = [...labelNames, "grpc_code"] as const;
    return new Counter({
      name,
      help: `Calls ended on the ${side}`,
      labelNames: labels,
      registers: [registry],
    });
  });
  const handling = shared(registry, `grpc_${side}_handling_seconds`, (name) => {
    const help = `How long calls took on the ${side}, in seconds`;
    return new Histogram({
      name,
      help,
      labelNames,
      buckets: DURATION_BUCKETS_SECONDS,
      registers: [registry],
    });
  });

  return (method) => {
    const names = nameOf(method);
    const labels = { grpc_service: names.service, grpc_method: names.method, grpc_type: kindOf(method) };
    const startedCalls = started.labels(labels);
    const durations = handling.labels(labels);
    const byCode = new Map<status, Counter.Internal>();
    const handledCalls = (code: status) => {
      let child = byCode.get(code);
      if (!child) byCode.set(code, (child = handled.labels({ ...labels, grpc_code: codeName(code) })));
      return child;
    };
    handledCalls(status.OK).inc(0);
    return () => {
      const startedAt = performance.now();
      startedCalls.inc();
      return (code) => {
        handledCalls(code).inc();
        durations.observe((performance.now() - startedAt) / 1000);
      };
    };
  };
}

/** "NotFound" for NOT_FOUND and Go's spelling of "Canceled", as existing dashboards have them. */
function codeName(code: status): string {
  if (code === status.OK) return "OK";
  if (code === status.CANCELLED) return "Canceled";
  return (status[code] ?? "UNKNOWN")
    .toLowerCase()
    .split("_")
    .map((word) => word.charAt(0).toUpperCase() + word.slice(1))
    .join("");
}
