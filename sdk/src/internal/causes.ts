// A cause has causes of its own: fetch says that it failed, and what is behind it why.
import { redact } from "./redact.ts";

const MAX_CAUSES = 5;

/** For whoever has the error: `TypeError: fetch failed < Error ECONNREFUSED: connect …`. Without credentials. */
export function causesTold(cause: unknown): string | undefined {
  return joined(cause, (error) =>
    error.message === "" ? named(error) : `${named(error)}: ${error.message}`,
  );
}

/** For logs: `TypeError < Error ECONNREFUSED`. Without the messages, some of which repeat the URL and with it the query. */
export function causesNamed(cause: unknown): string | undefined {
  return joined(cause, named);
}

function joined(cause: unknown, tell: (error: Error) => string): string | undefined {
  const told: string[] = [];
  for (let one = cause; one instanceof Error && told.length < MAX_CAUSES; one = one.cause)
    told.push(tell(one));
  return told.length === 0 ? undefined : redact(told.join(" < "));
}

function named(error: Error): string {
  const { code } = error as { code?: unknown };
  return typeof code === "string" ? `${error.name} ${code}` : error.name;
}
