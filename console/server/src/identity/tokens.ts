import { createHash, createHmac, randomBytes, timingSafeEqual } from "node:crypto";

const TOKEN = /^[A-Za-z0-9_-]{43}$/;

/** 256 random bits, for cookies and links. */
export function newToken(): string {
  return randomBytes(32).toString("base64url");
}

/** The stored form of a token. Undefined when the text cannot be one. */
export function hashToken(token: unknown): Buffer | undefined {
  if (typeof token !== "string" || !TOKEN.test(token)) return undefined;
  return createHash("sha256").update(token).digest();
}

/** The CSRF token of a session. Only the holder of the session's token can compute it. */
export function csrfTokenOf(sessionToken: string): string {
  return createHmac("sha256", sessionToken).update("csrf").digest("base64url");
}

export function isCsrfToken(given: unknown, sessionToken: string): boolean {
  const expected = Buffer.from(csrfTokenOf(sessionToken));
  const actual = Buffer.from(typeof given === "string" ? given : "");
  return actual.length === expected.length && timingSafeEqual(actual, expected);
}
