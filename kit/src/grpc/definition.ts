/**
 * The used part of ts-proto's service definitions. Messages are `never` as input and `unknown` as
 * output, so that every definition fits without a cast; `RequestOf` and `ResponseOf` restore the
 * types.
 */
export interface MethodDefinition {
  /** "/wonrail.auth.v1.AuthService/ResolveKey" */
  readonly path: string;
  readonly requestStream: boolean;
  readonly responseStream: boolean;
  readonly requestSerialize: (message: never) => Buffer;
  readonly requestDeserialize: (bytes: Buffer) => unknown;
  readonly responseSerialize: (message: never) => Buffer;
  readonly responseDeserialize: (bytes: Buffer) => unknown;
}

export type ServiceDefinition = Readonly<Record<string, MethodDefinition>>;

export type RequestOf<M extends MethodDefinition> = ReturnType<M["requestDeserialize"]>;
export type ResponseOf<M extends MethodDefinition> = ReturnType<M["responseDeserialize"]>;

/** As the label grpc_type names them. */
export type MethodKind = "unary" | "server_stream";

export function kindOf({ responseStream }: Pick<MethodDefinition, "responseStream">): MethodKind {
  return responseStream ? "server_stream" : "unary";
}

/** "wonrail.auth.v1.AuthService" and "ResolveKey". */
export function nameOf(method: Pick<MethodDefinition, "path">): { service: string; method: string } {
  const [, service = "", name = ""] = method.path.split("/");
  return { service, method: name };
}
