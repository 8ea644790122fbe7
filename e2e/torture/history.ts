import { createReadStream } from "node:fs";
import { createInterface } from "node:readline";

/**
 * The history of a torture run, one JSON object per line. `at` counts milliseconds since the run
 * began, from a monotonic clock of the process that drives the clients.
 */
export type HistoryLine = Start | Call | Answer | Lost | Fault | Delivery;

/** The first line: what the run was asked for. */
export interface Start {
  kind: "start";
  at: number;
  seed: number;
  operations: number;
  faults: string[];
  /** Wall clock at `at`, as an ISO time. */
  startedAt: string;
}

/** A client sends a request. Attempts of one operation share `operation`, `key` and `body`. */
export interface Call {
  kind: "call";
  at: number;
  operation: number;
  attempt: number;
  client: number;
  organisation: string;
  name: OperationName;
  method: "GET" | "POST" | "PATCH" | "DELETE";
  path: string;
  /** The `Idempotency-Key`, if the request changes something. */
  key?: string;
  body?: unknown;
}

/** The gateway answered an attempt. `body` is the whole envelope. */
export interface Answer {
  kind: "answer";
  at: number;
  operation: number;
  attempt: number;
  status: number;
  replayed: boolean;
  body: unknown;
}

/** An attempt ended without an answer: its effect is unknown. */
export interface Lost {
  kind: "lost";
  at: number;
  operation: number;
  attempt: number;
  reason: string;
}

export interface Fault {
  kind: "fault";
  at: number;
  fault: string;
  phase: "begin" | "end";
  detail: string;
}

/** The webhook receiver got a delivery whose signature it verified. */
export interface Delivery {
  kind: "delivery";
  at: number;
  organisation: string;
  webhookId: string;
  eventId: string;
  body: unknown;
}

export type OperationName =
  | "wallet.create"
  | "wallet.get"
  | "wallet.balance"
  | "wallet.deactivate"
  | "charge"
  | "charge.cancel"
  | "refund"
  | "transfer"
  | "transfer.get"
  | "payment"
  | "payment.cancel"
  | "payment.refund"
  | "payment.get"
  | "record.create"
  | "record.status"
  | "key.create"
  | "key.revoke"
  | "webhook.create"
  | "webhook.update";

export async function* readHistory(file: string): AsyncGenerator<HistoryLine> {
  const lines = createInterface({ input: createReadStream(file), crlfDelay: Infinity });
  for await (const line of lines) if (line !== "") yield JSON.parse(line) as HistoryLine;
}
