import { AsyncLocalStorage } from "node:async_hooks";
import { type Call, type OperationName } from "../history";
import { type HistoryWriter } from "../historyWriter";

/** The operation that the running code sends. */
export interface Sending {
  operation: number;
  client: number;
  organisation: string;
  name: OperationName;
  attempts: number;
}

export const sending = new AsyncLocalStorage<Sending>();

/**
 * A `fetch` for the SDK. It writes each attempt to the history, and sends attempts to the gateways
 * in turn.
 */
export function recordingFetch(history: HistoryWriter, gatewayUrls: string[]): typeof fetch {
  return async (input, init) => {
    const current = sending.getStore();
    if (!current) throw new Error("a request belongs to no operation");
    const { pathname, search } = new URL(input);
    const { operation, client, organisation, name } = current;
    const attempt = (current.attempts += 1);
    const gateway = gatewayUrls[Math.abs(operation + attempt) % gatewayUrls.length]!;
    const path = pathname + search;
    history.write({ kind: "call", operation, attempt, client, organisation, name, path, ...partsOf(init!) });
    try {
      const response = await fetch(gateway + path, init);
      const text = await response.text();
      const { status, headers } = response;
      const replayed = headers.get("idempotent-replayed") === "true";
      history.write({ kind: "answer", operation, attempt, status, replayed, body: parse(text) });
      return new Response(text, { status, headers });
    } catch (error) {
      history.write({ kind: "lost", operation, attempt, reason: reasonOf(error) });
      throw error;
    }
  };
}

function partsOf({ method, headers, body }: RequestInit): Pick<Call, "method" | "key" | "body"> {
  const key = new Headers(headers).get("idempotency-key");
  return {
    method: method as Call["method"],
    ...(key === null ? {} : { key }),
    ...(typeof body === "string" ? { body: JSON.parse(body) as unknown } : {}),
  };
}

function parse(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return text;
  }
}

function reasonOf(error: unknown): string {
  const { message, cause } = error as Error;
  return cause instanceof Error ? `${message}: ${cause.message}` : message;
}
