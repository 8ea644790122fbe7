// Verifies deliveries as Standard Webhooks 1.0 describes, with Web Crypto: the library has no dependencies.
import { serviceError, type ServiceError } from "../core/errors.ts";

/** Headers of a request: an object or a `Headers`. */
export type WebhookHeaders = Headers | Readonly<Record<string, string | string[] | undefined>>;

const TOLERANCE_SECONDS = 300;

export async function unwrapWebhook<T>(
  body: string,
  headers: WebhookHeaders,
  secret: string,
  nowMs = Date.now(),
): Promise<T> {
  const id = headerOf(headers, "webhook-id");
  const timestamp = headerOf(headers, "webhook-timestamp");
  const signatures = headerOf(headers, "webhook-signature");
  const sentSeconds = Number(timestamp);
  if (!/^\d{1,12}$/.test(timestamp) || Math.abs(nowMs / 1000 - sentSeconds) > TOLERANCE_SECONDS)
    throw refused("webhook-timestamp is more than five minutes off");
  const key = await crypto.subtle.importKey("raw", keyOf(secret), { name: "HMAC", hash: "SHA-256" }, false, [
    "verify",
  ]);
  const signed = new TextEncoder().encode(`${id}.${timestamp}.${body}`);
  for (const signature of signatures.split(" ")) {
    const [version, text = ""] = signature.split(",");
    if (version === "v1" && (await crypto.subtle.verify("HMAC", key, bytesOf(text), signed)))
      return JSON.parse(body) as T;
  }
  throw refused("no signature of webhook-signature is valid for the secret and the body");
}

function keyOf(secret: string): Uint8Array<ArrayBuffer> {
  const key = bytesOf(secret.replace(/^whsec_/, ""));
  if (key.length === 0) throw refused("the secret is not whsec_ and base64");
  return key;
}

function headerOf(headers: WebhookHeaders, name: string): string {
  const value =
    headers instanceof Headers
      ? headers.get(name)
      : Object.entries(headers).find(([key]) => key.toLowerCase() === name)?.[1];
  if (typeof value !== "string" || value === "") throw refused(`the header ${name} is missing`);
  return value;
}

/** Returns no bytes for a malformed base64 text. */
function bytesOf(base64: string): Uint8Array<ArrayBuffer> {
  try {
    return Uint8Array.from(atob(base64), (character) => character.charCodeAt(0));
  } catch {
    return new Uint8Array(0);
  }
}

function refused(message: string): ServiceError {
  return serviceError({
    code: "SDK_004",
    message: `The delivery does not come from the service: ${message}.`,
  });
}
