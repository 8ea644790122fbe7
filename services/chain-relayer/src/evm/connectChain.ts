import { type Log } from "@wonrail/kit/log";
import { Counter, DURATION_BUCKETS_SECONDS, Gauge, Histogram, type Registry } from "@wonrail/kit/metrics";
import { createProvider, type Finality, type Provider } from "./provider";
import { openRpc } from "./rpc";

export interface ConnectOptions {
  urls: string[];
  timeoutMs: number;
  chainId: bigint;
  finality: Finality;
  log: Log;
  registry: Registry;
}

/**
 * More than twice the logs of our contracts in a full block. Larger spans are requested in parts.
 */
const MAX_RESPONSE_BYTES = 16 * 1024 * 1024;

/** The chain, unchecked. */
export function connectChain(options: ConnectOptions): Provider {
  const { urls, timeoutMs, chainId, finality, log, registry } = options;
  const duration = new Histogram({
    name: "rpc_request_duration_seconds",
    help: "How long an endpoint of the chain took to answer",
    labelNames: ["method"],
    buckets: DURATION_BUCKETS_SECONDS,
    registers: [registry],
  });
  const disagreements = new Counter({
    name: "rpc_disagreement_total",
    help: "Answers of an endpoint that differ from the other endpoints",
    labelNames: ["provider"],
    registers: [registry],
  });
  const up = new Gauge({
    name: "rpc_endpoint_up",
    help: "1 if the endpoint answered the last request; 0 if it did not, or is on another chain",
    labelNames: ["provider"],
    registers: [registry],
  });
  const rpcs = urls.map((url) => openRpc({ url, timeoutMs, maxResponseBytes: MAX_RESPONSE_BYTES, duration }));
  return createProvider({ rpcs, chainId, finality, log, disagreements, up });
}
