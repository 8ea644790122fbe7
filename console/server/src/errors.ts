import { type JsonObject } from "@wonrail/kit/json";

/** Refusals of the console itself. The errors of services have the codes of kit/contract/errors. */
export const consoleErrors = {
  CON_001: { http: 401, message: "You are not signed in, or the session is over. Sign in again." },
  CON_002: { http: 403, message: "You lack the role that details.role names. Ask an operator who has it." },
  CON_003: {
    http: 403,
    message: "The request does not come from a page of this session. Load the page again.",
  },
  CON_004: { http: 400, message: "The sign-in failed. Read details.reason, and sign in again." },
} as const;

export type ConsoleErrorCode = keyof typeof consoleErrors;

export class ConsoleError extends Error {
  override readonly name = "ConsoleError";

  constructor(
    readonly code: ConsoleErrorCode,
    readonly details: JsonObject | null = null,
    options?: { cause?: unknown },
  ) {
    super(consoleErrors[code].message, options);
  }
}
