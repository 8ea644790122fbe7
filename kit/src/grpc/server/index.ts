export { enumFilter, enumName, enumValue } from "../enums";
export { type TlsIdentity } from "../tls";
export { fromErrorDetail, toErrorDetail } from "../wireErrors";
export { type CallerRules } from "./callers";
export {
  type GrpcService,
  type Handlers,
  implement,
  type ServerCall,
  type ServerStreamHandler,
  type UnaryHandler,
} from "./implement";
export { readAtMost, readBodyHash, readIdempotencyKey, readOrgId, readSandboxClock } from "./read";
export { type ItemAnswer, type ItemHandling, serveItems } from "./serveItems";
export { type GrpcServer, type GrpcServerOptions, startGrpcServer } from "./startGrpcServer";
