import { type RequestContext } from "../../context";
import {
  type MethodDefinition,
  type RequestOf,
  type ResponseOf,
  type ServiceDefinition,
} from "../definition";

/** The call without its request. */
export interface ServerCall {
  readonly context: RequestContext;
  /** Aborts when the caller cancels or the deadline passes. */
  readonly signal: AbortSignal;
  /** The caller's name in its certificate. Absent without TLS. */
  readonly caller?: string;
}

export type UnaryHandler<Req, Res> = (request: Req, call: ServerCall) => Promise<Res>;
export type ServerStreamHandler<Req, Res> = (request: Req, call: ServerCall) => AsyncIterable<Res>;

export type HandlerOf<M extends MethodDefinition> = M["requestStream"] extends true
  ? never
  : M["responseStream"] extends true
    ? ServerStreamHandler<RequestOf<M>, ResponseOf<M>>
    : UnaryHandler<RequestOf<M>, ResponseOf<M>>;

export type Handlers<D extends ServiceDefinition> = { readonly [M in keyof D]?: HandlerOf<D[M]> };

/** A service for the server: `implement` checks the message types, which are erased here. */
export interface GrpcService {
  readonly definition: ServiceDefinition;
  readonly handlers: Readonly<Record<string, AnyHandler | undefined>>;
}

export type AnyHandler = (request: never, call: ServerCall) => Promise<unknown> | AsyncIterable<unknown>;

/** Binds handlers to a generated definition. Missing ones answer UNIMPLEMENTED (SYS_004). */
export function implement<D extends ServiceDefinition>(definition: D, handlers: Handlers<D>): GrpcService {
  return { definition, handlers: handlers as GrpcService["handlers"] };
}
