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
/** Lines are written together: each write wakes two threads, which costs more than the lines. */
const TOGETHER_MS = 50;
const TOGETHER_BYTES = 64 * 1024;

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
  return pino(options, destination ?? standardOutput());
}

/**
 * May be a file on a full volume. Lines then wait for space, up to LONGEST_WAITING_BYTES, and
 * block neither a request nor the end of the process, which pino would delay.
 */
function standardOutput(): DestinationStream {
  const output = pino.destination({
    ...{ dest: 1, sync: false, maxLength: LONGEST_WAITING_BYTES },
    ...{ minLength: TOGETHER_BYTES, maxWrite: 2 * TOGETHER_BYTES },
    // With text, each line would copy the whole buffer to measure it.
    contentMode: "buffer",
  });
  writeSoon(output);
  let full = false;
  output.on("error", () => (full = true));
  output.on("write", () => (full = false));
  const flushSync = output.flushSync.bind(output);
  output.flushSync = () => {
    if (!full) flushSync();
  };
  return output;
}

/**
 * Writes waiting lines within TOGETHER_MS; at the end of the process and with a fatal line pino
 * writes at once. pino's periodicFlush would also wake an idle process.
 */
function writeSoon(output: ReturnType<typeof pino.destination> & { destroyed?: boolean }): void {
  // Its types know of text only.
  const write = output.write.bind(output) as unknown as (line: Buffer) => boolean;
  let timer: NodeJS.Timeout | undefined;
  output.write = (line) => {
    timer ??= setTimeout(() => {
      timer = undefined;
      if (!output.destroyed) output.flush();
    }, TOGETHER_MS).unref();
    return write(Buffer.from(line));
  };
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
