import { type Client, type ClientUnaryCall, Metadata, type ServiceError, status } from "@grpc/grpc-js";
import { currentContext, type RequestContext } from "../../context";
import { assert, DomainError, errorTable } from "../../contract/errors";
import { type callMetrics } from "../callMetrics";
import { contextOfCaller, metadataFromContext } from "../requestContext";
import { fromServiceError, isFromTransport, isServiceError } from "../wireErrors";
import { type Breaker } from "./breaker";
import { type Channel, NOT_CONNECTED } from "./channel";
import { type RetryBudget } from "./retry";

export interface CallOptions {
  /** Instead of the client's default. What remains of the request's own deadline wins when it is less. */
  timeoutMs?: number;
  /** Try again when the server cannot be reached. Only for what may happen twice; has no effect on a call without a request id. */
  retry?: true;
  /** A try may have been served, or may still be, whatever the next one says. */
  onUnsure?: () => void;
  /** Ends the call early. */
  signal?: AbortSignal;
}

/** What the calls of one client share. */
export interface Dependency {
  channel: Channel;
  breaker: Breaker;
  budget: RetryBudget;
  observed: ReturnType<typeof callMetrics>;
  defaultTimeoutMs: number;
}

/** One call on its way out. */
export interface Outgoing {
  context: RequestContext;
  deadlineMs: number;
  signal: AbortSignal | undefined;
}

type Peered = Pick<ClientUnaryCall, "getPeer">;

/** What a try is made on, and to be told of the call once there is one. */
export interface Line {
  client: Client;
  metadata: Metadata;
  began: (call: Peered) => void;
}

const MAX_TIMEOUT_MS = 86_400_000;

/** Refuses at once when the request's deadline has passed: nobody waits for the answer. */
export function prepare(
  { defaultTimeoutMs }: Dependency,
  options: CallOptions,
  nowMs = Date.now(),
): Outgoing {
  const context = contextOfCaller();
  const timeoutMs = options.timeoutMs ?? defaultTimeoutMs;
  assert(timeoutMs <= MAX_TIMEOUT_MS, "every call has a deadline, within a day");
  const deadlineMs = Math.min(nowMs + timeoutMs, context.deadlineMs ?? Infinity);
  if (deadlineMs <= nowMs || options.signal?.aborted) throw new DomainError("SYS_003");
  return { context, deadlineMs, signal: options.signal };
}

/** One try: through the breaker, and with its lesson for the connection. */
export function attempt<T>(
  { channel, breaker, defaultTimeoutMs }: Dependency,
  { context, deadlineMs }: Outgoing,
  send: (line: Line) => Promise<T>,
): Promise<T> {
  // A caller that came late proves nothing by running out of time.
  const isPatient = deadlineMs - Date.now() >= defaultTimeoutMs / 2;
  const isTimeout = (error: unknown) =>
    isPatient && isServiceError(error) && isFromTransport(error, status.DEADLINE_EXCEEDED);

  const work = async () => {
    let call: Peered | undefined;
    try {
      const began = (begun: Peered): void => void (call = begun);
      const result = await send({ client: channel.client(), metadata: metadataFromContext(context), began });
      channel.served(peerOf(call));
      return result;
    } catch (error) {
      if (isTimeout(error)) channel.timedOut(peerOf(call));
      else if (!isSilence(error)) channel.answered(peerOf(call));
      throw error;
    }
  };
  // Whoever answers, even with a refusal, is well. Only silence and a lost connection speak against a dependency.
  return breaker.run(work, (error) => isTimeout(error) || isUnreachable(error));
}

/** host:port of the server that a call was given to. Without one grpc-js names what it looked for, or nothing. */
function peerOf(call: Peered | undefined): string {
  const peer = call?.getPeer() ?? "";
  return /^(\d+\.\d+\.\d+\.\d+|\[.*\]):\d+$/.test(peer) ? peer : NOT_CONNECTED;
}

export function codeOf(error: unknown): status {
  if (isServiceError(error)) return error.code;
  return error instanceof DomainError ? status[errorTable[error.code].grpc] : status.UNKNOWN;
}

export function isUnavailable(error: unknown): boolean {
  return isServiceError(error) && error.code === status.UNAVAILABLE;
}

/** Nothing came back before the caller's time was over or the caller had left: no sign of life, however short the time was. */
function isSilence(error: unknown): boolean {
  if (!isServiceError(error)) return false;
  return isFromTransport(error, status.DEADLINE_EXCEEDED) || isFromTransport(error, status.CANCELLED);
}

function isUnreachable(error: unknown): boolean {
  return isServiceError(error) && isFromTransport(error, status.UNAVAILABLE);
}

/** What goes wrong on the way comes out as what the server would have thrown; mistakes of the code stay what they are. */
export function toCallerError(error: unknown, path: string): unknown {
  return isServiceError(error) ? fromServiceError(error, path) : error;
}

/** How much longer than its deadline a call may take before it is ended by force. grpc-js has left calls hanging (grpc-node#2785). */
const GUARD_MS = 500;

/** Ends the call soon after its deadline if nothing else does, and when the caller's signal says so. Returns the undoing. */
export function guard(
  call: { cancel(): void },
  { deadlineMs, signal }: Outgoing,
  onOverdue: (error: ServiceError) => void,
): () => void {
  const cancel = () => call.cancel();
  const timer = setTimeout(
    () => {
      onOverdue(overdue());
      call.cancel();
    },
    deadlineMs - Date.now() + GUARD_MS,
  );
  signal?.addEventListener("abort", cancel);
  return () => {
    clearTimeout(timer);
    signal?.removeEventListener("abort", cancel);
  };
}

function overdue(): ServiceError {
  const details = "no end was reported after the deadline";
  return Object.assign(new Error(details), {
    code: status.DEADLINE_EXCEEDED,
    details,
    metadata: new Metadata(),
  });
}

/** The id by which a server recognises the repetition of a request: the message's own where it has one, else the one that travels beside it. */
export function carriesRequestId(request: unknown): boolean {
  const { requestId } = request as { requestId?: unknown };
  return typeof requestId === "string" ? requestId !== "" : currentContext() !== undefined;
}
