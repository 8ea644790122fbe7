import { type handleServerStreamingCall, type handleUnaryCall, type Server } from "@grpc/grpc-js";
import { assert, DomainError } from "../../contract/errors";
import { type Log } from "../../log";
import { type Registry } from "../../metrics";
import { callMetrics } from "../callMetrics";
import { type MethodDefinition } from "../definition";
import { type TlsIdentity } from "../tls";
import { admitFor, type CallerRules } from "./callers";
import { type AnyHandler, type GrpcService } from "./implement";
import { MALFORMED, serveServerStream, serveUnary, type Serving } from "./serveCall";

export interface AddServiceOptions {
  log: Log;
  registry: Registry;
  tls?: TlsIdentity;
  callers?: CallerRules;
}

export function addService(
  server: Server,
  { definition, handlers }: GrpcService,
  { log, registry, callers, tls }: AddServiceOptions,
): void {
  const stray = Object.keys(handlers).filter((name) => !Object.hasOwn(definition, name));
  assert(stray.length === 0, `there is no method ${stray.join(", ")}`);
  const observed = callMetrics("server", registry);
  const served = Object.entries(definition).map(([name, method]) => {
    const admit = admitFor(method, callers, tls !== undefined);
    const serving = { path: method.path, observe: observed(method), admit, log };
    return { name, method: toServe(method, log), handler: adapt(method, serving, handlers[name]) };
  });
  server.addService(
    Object.fromEntries(served.map(({ name, method }) => [name, method])),
    Object.fromEntries(served.map(({ name, handler }) => [name, handler])),
  );
}

type GrpcHandler = handleUnaryCall<unknown, unknown> | handleServerStreamingCall<unknown, unknown>;

function adapt(method: MethodDefinition, serving: Serving, handler: AnyHandler = notBuilt): GrpcHandler {
  assert(!method.requestStream, `${method.path}: the kit serves no stream of requests`);
  return method.responseStream ? serveServerStream(serving, handler) : serveUnary(serving, handler);
}

const notBuilt: AnyHandler = () => {
  throw new DomainError("SYS_004");
};

/**
 * An unencodable response is our own error; grpc-js would answer INTERNAL silently. It would answer
 * INTERNAL for an undecodable request, too, which is the caller's error.
 */
function toServe(method: MethodDefinition, log: Log) {
  return {
    ...method,
    requestSerialize: method.requestSerialize as (message: unknown) => Buffer,
    requestDeserialize(bytes: Buffer): unknown {
      try {
        return method.requestDeserialize(bytes);
      } catch {
        return MALFORMED;
      }
    },
    responseSerialize(message: unknown): Buffer {
      try {
        return method.responseSerialize(message as never);
      } catch (error) {
        log.error({ err: error, rpc: method.path }, "the response cannot be encoded");
        throw error;
      }
    },
  };
}
