import { type GrpcService, implement } from "@wonrail/kit/grpc/server";
import { WalletServiceService } from "@wonrail/proto/wallet/v1/wallet";
import { type App } from "./app";

/** The way in by gRPC. What is not in this list answers UNIMPLEMENTED. */
export function rpc(_app: App): GrpcService[] {
  return [implement(WalletServiceService, {})];
}
