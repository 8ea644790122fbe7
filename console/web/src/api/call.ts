import { currentSession, signIn } from "./session";
import { type AnswerOf, type Method, type RequestOf, type ServiceName } from "./services";

interface Envelope<T> {
  success: boolean;
  data: T | null;
  error: { code: string; message: string; details: Record<string, unknown> | null } | null;
  requestId: string;
}

/** A refusal, with the code and the request id for the support. */
export class CallError extends Error {
  constructor(
    readonly code: string,
    message: string,
    readonly details: Record<string, unknown>,
    readonly requestId: string,
  ) {
    super(message);
  }
}

export interface CallOptions {
  /** The service to ask, for a method of wonrail.common.v1. */
  service?: ServiceName | undefined;
  /** For a method that changes state. */
  reason?: string | undefined;
  signal?: AbortSignal | undefined;
}

/** Calls an admin RPC through the console's server. */
export async function call<M extends Method>(
  method: M,
  request: RequestOf<M>,
  { service, reason, signal }: CallOptions = {},
): Promise<AnswerOf<M>> {
  const query = service === undefined ? "" : `?service=${service}`;
  const body = reason === undefined ? request : { ...request, reason };
  return post<AnswerOf<M>>(`/api/admin/${method}${query}`, body, signal);
}

/** Posts with the CSRF token. Goes to the sign-in page when the session is over. */
export async function post<T>(path: string, body: object, signal?: AbortSignal): Promise<T> {
  const headers = { "content-type": "application/json", "x-csrf-token": currentSession().csrfToken };
  const answer = await send<T>(path, {
    method: "POST",
    headers,
    body: JSON.stringify(body),
    signal: signal ?? null,
  });
  return answer;
}

export async function send<T>(path: string, init: RequestInit = {}): Promise<T> {
  const response = await fetch(path, { ...init, credentials: "same-origin" }).catch((error: unknown) => {
    if (error instanceof DOMException && error.name === "AbortError") throw error;
    throw new CallError("SYS_002", "The console's server does not answer. Try again.", {}, "");
  });
  const { success, data, error, requestId } = await envelopeOf<T>(response);
  if (success) return data as T;
  const { code, message, details } = error!;
  if (code === "CON_001") signIn(details?.signInUrl);
  throw new CallError(code, message, details ?? {}, requestId);
}

async function envelopeOf<T>(response: Response): Promise<Envelope<T>> {
  const envelope = (await response.json().catch(() => undefined)) as Envelope<T> | undefined;
  if (envelope && (envelope.success || envelope.error)) return envelope;
  throw new CallError("SYS_002", `The console's server answered ${response.status}. Try again.`, {}, "");
}
