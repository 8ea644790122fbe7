import { createPrivateKey, X509Certificate } from "node:crypto";
import { z } from "zod";
import { rule } from "./config";
import { assert } from "./contract/errors";
import { type TlsIdentity } from "./grpc/tls";
import { Gauge, type Registry } from "./metrics";

export { type TlsIdentity };

const CERTIFICATE = /-----BEGIN CERTIFICATE-----[^-]*-----END CERTIFICATE-----/g;

/**
 * One or several certificates as PEM. OpenSSL skips an unreadable authority, and then trusts none.
 */
export const certificates = z.string().refine((text) => {
  const found = text.match(CERTIFICATE) ?? [];
  return found.length > 0 && found.every((one) => canBeRead(() => new X509Certificate(one)));
}, "is no certificate in PEM");
const privateKey = z
  .string()
  .refine(
    (text) => canBeRead(() => createPrivateKey(text)),
    "is no private key in PEM, without a passphrase",
  );

/**
 * This process's identity: TLS_CERT_FILE, TLS_KEY_FILE and TLS_CA_FILE, all or none. With them it
 * calls and listens by mutual TLS only.
 */
export const tlsShape = {
  TLS_CERT: certificates.optional(),
  TLS_KEY: privateKey.optional(),
  TLS_CA: certificates.optional(),
};

export const tlsRule = rule(tlsShape, (given) => {
  const missing = (["TLS_CERT", "TLS_KEY", "TLS_CA"] as const).filter((name) => given[name] === undefined);
  if (missing.length === 3) return [];
  if (missing.length > 0)
    return missing.map((name) => `${name}_FILE is not set: the three of TLS go together`);
  const isItsKey = new X509Certificate(given.TLS_CERT!).checkPrivateKey(createPrivateKey(given.TLS_KEY!));
  return isItsKey ? [] : ["TLS_KEY: is not the key of the certificate in TLS_CERT"];
});

function canBeRead(read: () => unknown): boolean {
  try {
    read();
    return true;
  } catch {
    return false;
  }
}

/** Measures the expiry of the loaded certificate, also when its file has changed since. */
export function readTls(
  config: z.output<z.ZodObject<typeof tlsShape>>,
  registry: Registry,
): TlsIdentity | undefined {
  const given = [config.TLS_CERT, config.TLS_KEY, config.TLS_CA].filter((text) => text !== undefined);
  if (given.length === 0) return undefined;
  assert(given.length === 3, "TLS_CERT_FILE, TLS_KEY_FILE and TLS_CA_FILE go together");
  const [cert, key, ca] = given.map((text) => Buffer.from(text));
  new Gauge({
    name: "tls_certificate_expiry_timestamp_seconds",
    help: "Expiry of this process's own certificate, in Unix seconds; absent without TLS",
    registers: [registry],
  }).set(Date.parse(new X509Certificate(cert!).validTo) / 1000);
  return { cert: cert!, key: key!, ca: ca! };
}
