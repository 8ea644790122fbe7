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
  /** Replaces the client's default. The rest of the request's deadline applies if it is shorter. */
  timeoutMs?: number;
  /**
   * Retry when the server is unreachable. Only for repeatable requests; ignored without a request
   * id.
   */
  retry?: true;
  /**
   * Called when an attempt may have been or may still be executed, whatever the next one returns.
   */
  onUnsure?: () => void;
  /** Ends the call early. */
  signal?: AbortSignal;
}

/** Shared by the calls of one client. */
export interface Dependency {
  channel: Channel;
  breaker: Breaker;
  budget: RetryBudget;
  observed: ReturnType<typeof callMetrics>;
  defaultTimeoutMs: number;
}

/** An outgoing call. */
export interface Outgoing {
  context: RequestContext;
  deadlineMs: number;
  signal: AbortSignal | undefined;
}

type Peered = Pick<ClientUnaryCall, "getPeer">;

/** The connection of an attempt, and a callback for the started call. */
export interface Line {
  client: Client;
  metadata: Metadata;
  began: (call: Peered) => void;
}

const MAX_TIMEOUT_MS = 86_400_000;

/** Refuses at once after the request's deadline. */
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

/** One attempt through the breaker, which also judges the connection. */
export function attempt<T>(
  { channel, breaker, defaultTimeoutMs }: Dependency,
  { context, deadlineMs }: Outgoing,
  send: (line: Line) => Promise<T>,
): Promise<T> {
  // A timeout proves nothing about a call that started late.
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
  // Any answer, also a refusal, proves health. Only silence and a lost connection blame a
  // dependency.
  return breaker.run(work, (error) => isTimeout(error) || isUnreachable(error));
}

/** host:port of the call's server. Without one grpc-js returns its target or nothing. */
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

/**
 * No sign of life until the caller's time was over or the caller had left, however short that was.
 */
function isSilence(error: unknown): boolean {
  if (!isServiceError(error)) return false;
  return isFromTransport(error, status.DEADLINE_EXCEEDED) || isFromTransport(error, status.CANCELLED);
}

function isUnreachable(error: unknown): boolean {
  return isServiceError(error) && isFromTransport(error, status.UNAVAILABLE);
}

/** Converts transport errors into DomainErrors; programming errors stay unchanged. */
export function toCallerError(error: unknown, path: string): unknown {
  return isServiceError(error) ? fromServiceError(error, path) : error;
}

/**
 * Time after its deadline until a call is ended by force. grpc-js has left calls hanging
 * (grpc-node#2785).
 */
const GUARD_MS = 500;

/**
 * Ends the call soon after its deadline, and on the caller's abort. Returns a function that removes
 * the guard.
 */
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

/**
 * Whether the message has its own request id, by which a server recognises a repetition; otherwise
 * the one in metadata counts.
 */
export function carriesRequestId(request: unknown): boolean {
  const { requestId } = request as { requestId?: unknown };
  return typeof requestId === "string" ? requestId !== "" : currentContext() !== undefined;
}
