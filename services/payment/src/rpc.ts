import { type GrpcService, implement } from "@wonrail/kit/grpc/server";
import { PaymentServiceService } from "@wonrail/proto/payment/v1/payment";
import { type App } from "./app";

/** The way in by gRPC. What is not in this list answers UNIMPLEMENTED. */
export function rpc(_app: App): GrpcService[] {
  return [implement(PaymentServiceService, {})];
}
