import { createHmac, randomBytes } from "node:crypto";

/** Standard Webhooks 1.0: `whsec_` and 24 to 64 random bytes in base64. */
const SECRET_PREFIX = "whsec_";
const SECRET_BYTES = 32;

export function newSecret(): string {
  return `${SECRET_PREFIX}${randomBytes(SECRET_BYTES).toString("base64")}`;
}

export interface SignedMessage {
  /** The event's id: a receiver handles an id once. */
  id: string;
  atSeconds: number;
  body: string;
}

/** The headers of a delivery. With several secrets a receiver accepts any of the signatures. */
export function signedHeaders(message: SignedMessage, secrets: readonly string[]): Record<string, string> {
  return {
    "webhook-id": message.id,
    "webhook-timestamp": String(message.atSeconds),
    "webhook-signature": secrets.map((secret) => sign(message, secret)).join(" "),
  };
}

function sign({ id, atSeconds, body }: SignedMessage, secret: string): string {
  const key = Buffer.from(secret.slice(SECRET_PREFIX.length), "base64");
  return `v1,${createHmac("sha256", key).update(`${id}.${atSeconds}.${body}`).digest("base64")}`;
}
