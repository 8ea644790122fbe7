import pino, { type DestinationStream, type Logger } from "pino";
import { currentContext, type RequestContext, traceIdOf } from "./context";

export type Log = Logger;

export interface LogOptions {
  service: string;
  level?: string;
  destination?: DestinationStream;
}

/** Names whose values never reach a log line, at the top level and one and two levels down. */
const SECRET_NAMES = [
  "apiKey",
  "newApiKey",
  "secretKey",
  "authorization",
  "password",
  "seed",
  "mnemonic",
  "privateKey",
  "signature",
  "kek",
  '["x-api-key"]',
];

const LONGEST_WAITING_BYTES = 4 * 1024 * 1024;
/** Lines are written in batches, since a write costs more than its lines. */
const BATCH_MS = 50;
const BATCH_BYTES = 8 * 1024;

/** Standard output flushes its batch by a timer for ever, which a silent log does not need. */
const NO_OUTPUT: DestinationStream = { write: () => undefined };

/** One JSON object per line, with the present request's id, trace and organisation. */
export function createLog({ service, level = "info", destination }: LogOptions): Log {
  const options = {
    level,
    base: { service },
    timestamp: pino.stdTimeFunctions.isoTime,
    formatters: { level: (label: string) => ({ level: label }) },
    redact: {
      paths: SECRET_NAMES.flatMap((name) => [name, under("*", name), under("*.*", name)]),
      censor: "[redacted]",
    },
    mixin: contextFields,
  };
  return pino(options, destination ?? (level === "silent" ? NO_OUTPUT : standardOutput()));
}

/**
 * May be a file on a full volume. Then lines wait for space, up to LONGEST_WAITING_BYTES. Neither a
 * request nor the end of the process waits for them.
 */
function standardOutput(): DestinationStream {
  const output = pino.destination({
    dest: 1,
    sync: false,
    maxLength: LONGEST_WAITING_BYTES,
    minLength: BATCH_BYTES,
    periodicFlush: BATCH_MS,
  });
  let full = false;
  output.on("error", () => (full = true));
  output.on("write", () => (full = false));
  const flushSync = output.flushSync.bind(output);
  output.flushSync = () => {
    if (!full) flushSync();
  };
  return output;
}

function contextFields(): Record<string, string> {
  const context = currentContext();
  if (!context) return {};
  const fields = requestFields(context);
  if (context.orgId !== undefined) fields.orgId = context.orgId;
  return fields;
}

/** The request of a line: passed by hand where one call works for many. */
export function requestFields({ requestId, traceparent }: RequestOrigin): Record<string, string> {
  return { requestId, traceId: traceIdOf(traceparent) };
}

type RequestOrigin = Pick<RequestContext, "requestId" | "traceparent">;

function under(parent: string, name: string): string {
  return name.startsWith("[") ? `${parent}${name}` : `${parent}.${name}`;
}
