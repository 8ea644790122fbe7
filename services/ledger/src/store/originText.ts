import { traceIdOf } from "@wonrail/kit/context";
import type { JournalEntry, Origin } from "../domain/types";

/** The column `origin` of an entry: request id, space, trace id. Null when no call from outside asked for it. */
export function originText(origin: Origin | undefined): string | null {
  if (!origin || origin.requestId === "") return null;
  return `${origin.requestId} ${traceIdOf(origin.traceparent)}`;
}

export function toOrigin(text: string | null): JournalEntry["origin"] {
  if (text === null) return null;
  const space = text.lastIndexOf(" ");
  return { requestId: text.slice(0, space), traceId: text.slice(space + 1) };
}
