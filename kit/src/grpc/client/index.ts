export { enumName, enumValue } from "../enums";
export { isRequestId, REQUEST_ID_FORM } from "../requestContext";
export { type TlsIdentity } from "../tls";
export { fromErrorDetail, toErrorDetail } from "../wireErrors";
export { type CallOptions } from "./call";
export { coalesce, type Coalesced, type CoalesceOptions } from "./coalesce";
export { type ClientLifecycle, type ClientOptions, createClient, type PromiseClient } from "./createClient";
export { type ServerStreamCall } from "./streamCall";
export { type UnaryCall } from "./unaryCall";
