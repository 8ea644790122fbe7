import { type Deadline, Metadata } from "@grpc/grpc-js";
import { type ItemContext } from "@wonrail/proto/common/v1/common";
import { childTraceparent, currentContext, isTraceparent, type RequestContext } from "../context";
import { isId, newId } from "../contract/ids";

const REQUEST_ID = "x-request-id";
const ORG_ID = "x-org-id";
const TRACEPARENT = "traceparent";

/** Form of a foreign id, which ends up in headers and log lines. */
export const REQUEST_ID_FORM = /^[A-Za-z0-9][A-Za-z0-9._:-]{0,127}$/;

export function isRequestId(text: unknown): text is string {
  return typeof text === "string" && REQUEST_ID_FORM.test(text);
}

/**
 * The context in which a server serves a call. The deadline travels as gRPC's timeout, so clocks
 * may differ.
 */
export function contextFromMetadata(metadata: Metadata, deadline: Deadline): RequestContext {
  return makeContext({
    requestId: first(metadata, REQUEST_ID),
    traceparent: traceparentOf(metadata),
    orgId: first(metadata, ORG_ID),
    deadlineMs: Number(deadline),
  });
}

/** The caller's span, unchanged. */
export function traceparentOf(metadata: Metadata): string | undefined {
  return first(metadata, TRACEPARENT);
}

/**
 * Omits values that would harm: grpc-js throws for a character beyond ASCII, and HTTP/2 ends the
 * connection over headers of more than 64 KiB, with every other call on it.
 */
export function metadataFromContext({ requestId, traceparent, orgId }: RequestContext): Metadata {
  const metadata = new Metadata();
  if (isRequestId(requestId)) metadata.set(REQUEST_ID, requestId);
  if (isTraceparent(traceparent)) metadata.set(TRACEPARENT, traceparent);
  if (isId("org", orgId)) metadata.set(ORG_ID, orgId);
  return metadata;
}

/** The context of the present request, or a new one for internal work. */
export function contextOfCaller(): RequestContext {
  return currentContext() ?? { requestId: newId("req"), traceparent: childTraceparent() };
}

export function toItemContext(context: RequestContext, deadlineMs: number): ItemContext {
  return {
    requestId: context.requestId,
    traceparent: context.traceparent,
    orgId: context.orgId ?? "",
    deadline: new Date(deadlineMs),
  };
}

/** The context in which one item of a bulk call is served. `deadlineMs` is by this process's clock. */
export function contextFromItem(item: ItemContext | undefined, deadlineMs: number): RequestContext {
  return makeContext({
    requestId: item?.requestId,
    traceparent: item?.traceparent,
    orgId: item?.orgId,
    deadlineMs,
  });
}

interface Received {
  requestId: string | undefined;
  traceparent: string | undefined;
  orgId: string | undefined;
  deadlineMs: number;
}

function makeContext({ requestId, traceparent, orgId, deadlineMs }: Received): RequestContext {
  return {
    requestId: isRequestId(requestId) ? requestId : newId("req"),
    traceparent: childTraceparent(traceparent),
    ...(isId("org", orgId) ? { orgId } : {}),
    ...(Number.isFinite(deadlineMs) ? { deadlineMs } : {}),
  };
}

function first(metadata: Metadata, name: string): string | undefined {
  const [value] = metadata.get(name);
  return typeof value === "string" ? value : undefined;
}
