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
/** Lines are written together: each write wakes a thread, and the end of it this one, which costs more than the lines. */
const TOGETHER_MS = 50;
const TOGETHER_BYTES = 64 * 1024;

/** One JSON object a line. The request's id, trace and organisation are on every line that is written while it is served. */
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
 * May be a file on a volume that is full. Then lines wait for space, as many as fit into LONGEST_WAITING_BYTES, and nobody waits for them: neither a request,
 * nor the end of the process, which pino would put off until there is space.
 */
function standardOutput(): DestinationStream {
  const output = pino.destination({
    ...{ dest: 1, sync: false, maxLength: LONGEST_WAITING_BYTES },
    ...{ minLength: TOGETHER_BYTES, maxWrite: 2 * TOGETHER_BYTES },
    // Of text, each line would copy all that waits, to see how long it is.
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
 * What waits is written at the latest TOGETHER_MS after it came; at the end of the process, and with a fatal line, pino writes it at once. Not by its periodicFlush,
 * which wakes a process that has nothing to write, too.
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

/** Which request a line is about: given by hand where one call does the work of many. */
export function requestFields({ requestId, traceparent }: RequestOrigin): Record<string, string> {
  return { requestId, traceId: traceIdOf(traceparent) };
}

type RequestOrigin = Pick<RequestContext, "requestId" | "traceparent">;

function under(parent: string, name: string): string {
  return name.startsWith("[") ? `${parent}${name}` : `${parent}.${name}`;
}
