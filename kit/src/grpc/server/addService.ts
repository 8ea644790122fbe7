import {
  type handleBidiStreamingCall,
  type handleServerStreamingCall,
  type handleUnaryCall,
  type Server,
} from "@grpc/grpc-js";
import { assert, DomainError, never } from "../../contract/errors";
import { type Log } from "../../log";
import { type Registry } from "../../metrics";
import { callMetrics } from "../callMetrics";
import { kindOf, type MethodDefinition } from "../definition";
import { type TlsIdentity } from "../tls";
import { admitFor, type CallerRules } from "./callers";
import { type AnyHandler, type GrpcService } from "./implement";
import { serveBidi, serveServerStream, serveUnary, type Serving } from "./serveCall";

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

type GrpcHandler =
  | handleUnaryCall<unknown, unknown>
  | handleServerStreamingCall<unknown, unknown>
  | handleBidiStreamingCall<unknown, unknown>;

function adapt(method: MethodDefinition, serving: Serving, handler: AnyHandler = notBuilt): GrpcHandler {
  const kind = kindOf(method);
  switch (kind) {
    case "unary":
      return serveUnary(serving, handler);
    case "server_stream":
      return serveServerStream(serving, handler);
    case "bidi_stream":
      return serveBidi(serving, handler);
    case "client_stream":
      throw new Error(
        `${method.path}: a stream of requests with one response is a kind the kit does not serve`,
      );
    default:
      return never(kind);
  }
}

const notBuilt: AnyHandler = () => {
  throw new DomainError("SYS_004");
};

/**
 * An unencodable response is our own error; grpc-js would answer INTERNAL silently. A single
 * request is passed on, a stream is read.
 */
function toServe(method: MethodDefinition, log: Log) {
  return {
    ...method,
    requestSerialize: method.requestSerialize as (message: unknown) => Buffer,
    requestDeserialize: method.requestDeserialize,
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
