import {
  type Deadline,
  type handleServerStreamingCall,
  type handleUnaryCall,
  type Metadata,
  status,
} from "@grpc/grpc-js";
import { runInContext } from "../../context";
import { DomainError } from "../../contract/errors";
import { type Log } from "../../log";
import { beginSpan } from "../../tracing";
import { type ObserveCall } from "../callMetrics";
import { contextFromMetadata, traceparentOf } from "../requestContext";
import { writeAll } from "../streams";
import { toStatus } from "../wireErrors";
import { type Admit, type AuthContext } from "./callers";
import { checkFields } from "./checkFields";
import { type AnyHandler, type ServerCall, type ServerStreamHandler, type UnaryHandler } from "./implement";
import { logOutage } from "./logOutage";
import { NotAdmitted } from "./notAdmitted";

const NO_CALLER = "This caller may not use this method: see proto/callers.json.";

/** Stands for a request whose bytes are no message of the method. */
export const MALFORMED = Symbol("malformed request");

/** Dependencies of one method besides its handler. */
export interface Serving {
  path: string;
  observe: ObserveCall;
  admit: Admit;
  log: Log;
}

export function serveUnary(serving: Serving, handler: AnyHandler): handleUnaryCall<unknown, unknown> {
  const handle = handler as UnaryHandler<unknown, unknown>;
  return (grpcCall, callback) => {
    void serve(serving, grpcCall, {
      work: async (call) => callback(null, await handle(decoded(grpcCall.request), call)),
      refuse: callback,
    });
  };
}

export function serveServerStream(
  serving: Serving,
  handler: AnyHandler,
): handleServerStreamingCall<unknown, unknown> {
  const handle = handler as ServerStreamHandler<unknown, unknown>;
  return (grpcCall) => {
    void serve(serving, grpcCall, {
      async work(call) {
        await writeAll(handle(decoded(grpcCall.request), call), grpcCall, call.signal);
        if (!call.signal.aborted) grpcCall.end();
      },
      refuse: (answer) => grpcCall.emit("error", answer),
    });
  };
}

function decoded(request: unknown): unknown {
  if (request === MALFORMED) throw new DomainError("REQ_001");
  checkFields(request);
  return request;
}

interface Answer {
  code: status;
  details: string;
  metadata?: Metadata;
}

/** The common part of all kinds of call. */
interface Incoming {
  readonly metadata: Metadata;
  getDeadline(): Deadline;
  getAuthContext(): AuthContext;
  on(event: "cancelled", listener: () => void): unknown;
}

interface Work {
  work: (call: ServerCall) => Promise<void>;
  refuse: (answer: Answer) => void;
}

/**
 * Serves one call from its first metric to its last. Never rejects: an error becomes the caller's
 * answer.
 */
function serve(serving: Serving, grpcCall: Incoming, { work, refuse }: Work): Promise<void> {
  const end = serving.observe();
  const span = beginSpan("server");
  const cancellation = new AbortController();
  const { signal } = cancellation;
  let running = true;
  // grpc-js emits "cancelled" after every call, also after a success.
  grpcCall.on("cancelled", () => running && cancellation.abort());

  const context = contextFromMetadata(grpcCall.metadata, grpcCall.getDeadline());
  const admission = serving.admit(() => grpcCall.getAuthContext());
  const { caller } = admission.refused ? {} : admission;
  const call: ServerCall = caller === undefined ? { context, signal } : { context, signal, caller };

  return runInContext(context, async () => {
    let code = status.OK;
    try {
      if (admission.refused) throw new NotAdmitted(NO_CALLER);
      await work(call);
    } catch (error) {
      const answer = answerFor(error, serving, signal);
      code = answer.code;
      if (!signal.aborted) refuse(answer);
    }
    running = false;
    const ended = signal.aborted ? codeOfEnd(context.deadlineMs) : code;
    end(ended);
    span?.end({
      name: serving.path,
      context,
      parent: traceparentOf(grpcCall.metadata),
      failure: isServerFault(ended) ? status[ended] : undefined,
    });
    if (serving.log.isLevelEnabled("debug"))
      serving.log.debug({ rpc: serving.path, grpcCode: status[ended] }, "call");
  });
}

const SERVER_FAULTS: ReadonlySet<status> = new Set([
  status.UNKNOWN,
  status.DEADLINE_EXCEEDED,
  status.UNIMPLEMENTED,
  status.INTERNAL,
  status.UNAVAILABLE,
  status.DATA_LOSS,
]);

/** As in OpenTelemetry: a refusal is the caller's fault and leaves the span's status unset. */
export function isServerFault(code: status): boolean {
  return SERVER_FAULTS.has(code);
}

function answerFor(error: unknown, { log, path }: Serving, signal: AbortSignal): Answer {
  if (error instanceof NotAdmitted) {
    log.warn({ rpc: path, refusal: error.message }, "a caller or an operator was refused");
    return { code: status.PERMISSION_DENIED, details: error.message };
  }
  if (error instanceof DomainError && error.code !== "SYS_001") {
    if (!signal.aborted) logOutage(error, log, path);
    return toStatus(error);
  }
  // After a cancellation work fails in many ways, which no caller sees.
  log[signal.aborted ? "debug" : "error"]({ err: error, rpc: path }, "call failed");
  return toStatus(error instanceof DomainError ? error : new DomainError("SYS_001"));
}

function codeOfEnd(deadlineMs: number | undefined): status {
  return deadlineMs !== undefined && deadlineMs <= Date.now() ? status.DEADLINE_EXCEEDED : status.CANCELLED;
}
