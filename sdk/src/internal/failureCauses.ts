// fetch only reports that it failed. Its causes tell the reason.
import { redact } from "./redact.ts";

const MAX_CAUSES = 5;

/** For a person: `TypeError: fetch failed < Error ECONNREFUSED: connect …`. Redacts credentials. */
export function describeCauses(cause: unknown): string | undefined {
  return joinCauses(cause, (error) => {
    const message = messageOf(error);
    return message === "" ? nameWithCode(error) : `${nameWithCode(error)}: ${message}`;
  });
}

/** For logs: `TypeError < Error ECONNREFUSED`. Messages are left out, as some repeat the query. */
export function nameCauses(cause: unknown): string | undefined {
  return joinCauses(cause, nameWithCode);
}

/** The reason of a failed request in a few words. A message with a URL is replaced by its name. */
export function failureReason(error: unknown): string {
  const [innermost] = causesOf(error).reverse();
  if (innermost === undefined) return "unknown reason";
  const message = messageOf(innermost).replace(/\.$/, "");
  return message === "" || message.includes("?") ? nameWithCode(innermost) : redact(message);
}

/** True when the connection could not be opened, so that no byte of the request left. */
export function wasNeverSent(error: unknown): boolean {
  return causesOf(error).some((cause) => {
    const attempts = attemptsOf(cause);
    return attempts.length > 0 ? attempts.every(isConnectFailure) : isConnectFailure(cause);
  });
}

const CONNECT_CALLS: unknown[] = ["connect", "getaddrinfo"];
/** undici's time limit for opening a connection, and Bun's refused connection. */
const CONNECT_CODES: unknown[] = ["UND_ERR_CONNECT_TIMEOUT", "ConnectionRefused"];

function isConnectFailure(error: ErrorLike): boolean {
  const { syscall, code } = error as { syscall?: unknown; code?: unknown };
  return CONNECT_CALLS.includes(syscall) || CONNECT_CODES.includes(code);
}

function joinCauses(cause: unknown, describe: (error: ErrorLike) => string): string | undefined {
  const described = causesOf(cause).map(describe);
  return described.length === 0 ? undefined : redact(described.join(" < "));
}

/** instanceof fails for errors of another realm, such as a test runner's fetch. */
type ErrorLike = Pick<Error, "name" | "message" | "cause">;

function isErrorLike(value: unknown): value is ErrorLike {
  const { name, message } = (value ?? {}) as { name?: unknown; message?: unknown };
  return typeof name === "string" && typeof message === "string";
}

function causesOf(error: unknown): ErrorLike[] {
  const causes: ErrorLike[] = [];
  for (let next = error; isErrorLike(next) && causes.length < MAX_CAUSES; next = next.cause)
    causes.push(next);
  return causes;
}

/** The failures of several addresses. Node joins them in an AggregateError without a message. */
function attemptsOf(error: ErrorLike): ErrorLike[] {
  const { errors } = error as { errors?: unknown };
  return Array.isArray(errors) ? errors.filter(isErrorLike) : [];
}

function messageOf(error: ErrorLike): string {
  return error.message || (attemptsOf(error)[0]?.message ?? "");
}

function nameWithCode(error: ErrorLike): string {
  const { code } = error as { code?: unknown };
  return typeof code === "string" ? `${error.name} ${code}` : error.name;
}
