import { type GrpcService, implement } from "@wonrail/kit/grpc/server";
import { RelayerServiceService } from "@wonrail/proto/relayer/v1/relayer";
import { type App } from "./app";

/** The way in by gRPC. What is not in this list answers UNIMPLEMENTED. */
export function rpc(_app: App): GrpcService[] {
  return [implement(RelayerServiceService, {})];
}
