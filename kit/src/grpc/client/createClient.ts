import { assert } from "../../contract/errors";
import { type Log } from "../../log";
import { type Registry } from "../../metrics";
import { callMetrics } from "../callMetrics";
import {
  type MethodDefinition,
  type RequestOf,
  type ResponseOf,
  type ServiceDefinition,
} from "../definition";
import { MAX_ANSWER_BYTES } from "../messageLimits";
import { type TlsIdentity } from "../tls";
import { createBreaker } from "./breaker";
import { type Dependency } from "./call";
import { openChannel } from "./channel";
import { checkHealth } from "./checkHealth";
import { RetryBudget } from "./retry";
import { serverStreamCall, type ServerStreamCall } from "./streamCall";
import { unaryCall, type UnaryCall } from "./unaryCall";

export interface ClientOptions {
  /** The dependency's name in metrics and logs, and in its certificate. */
  name: string;
  /** host:port */
  address: string;
  log: Log;
  registry: Registry;
  /** Time limit of a call without its own, within the request's deadline. */
  defaultTimeoutMs: number;
  /** With it both sides show a certificate of the same authority. */
  tls?: TlsIdentity | undefined;
  /** The largest response that is accepted. */
  maxReceiveBytes?: number;
  breaker?: { resetTimeoutMs?: number; volumeThreshold?: number };
}

export type CallOf<M extends MethodDefinition> = M["requestStream"] extends true
  ? never
  : M["responseStream"] extends true
    ? ServerStreamCall<RequestOf<M>, ResponseOf<M>>
    : UnaryCall<RequestOf<M>, ResponseOf<M>>;

/** The generated service as functions: a promise per unary call, an async iterable per stream. */
export type PromiseClient<D extends ServiceDefinition> = { readonly [M in keyof D]: CallOf<D[M]> };

export interface ClientLifecycle {
  /** Rejects unless the server reports that it serves. For readiness checks. */
  ready(): Promise<void>;
  close(): void;
}

/**
 * The client of one dependency. Errors are the `DomainError` that the server threw. Transport
 * failures become SYS_002 (not executed), SYS_003 (outcome unknown) or SYS_004 (unknown method).
 */
export function createClient<D extends ServiceDefinition>(
  definition: D,
  options: ClientOptions,
): PromiseClient<D> & ClientLifecycle {
  const { name, address, log, registry, defaultTimeoutMs, tls, maxReceiveBytes = MAX_ANSWER_BYTES } = options;
  const { resetTimeoutMs = 1000, volumeThreshold = 20 } = options.breaker ?? {};
  const channel = openChannel({ address, name, tls, maxReceiveBytes, log });
  const breaker = createBreaker({ name, registry, resetTimeoutMs, volumeThreshold });
  const dependency: Dependency = {
    channel,
    breaker,
    budget: new RetryBudget(),
    observed: callMetrics("client", registry),
    defaultTimeoutMs,
  };
  const calls = Object.entries(definition).map(([method, of]) => [method, callFor(dependency, of)]);
  return {
    ...(Object.fromEntries(calls) as PromiseClient<D>),
    ready: () => checkHealth(channel.client(), Math.min(defaultTimeoutMs, 1000)),
    close() {
      breaker.close();
      channel.close();
    },
  };
}

function callFor(dependency: Dependency, method: MethodDefinition) {
  assert(!method.requestStream, `${method.path}: the kit calls with no stream of requests`);
  return method.responseStream ? serverStreamCall(dependency, method) : unaryCall(dependency, method);
}
