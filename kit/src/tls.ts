import { assert } from "./errors";
import { z } from "zod";
import { rule } from "./config";
import { type TlsIdentity } from "./grpc/tls";

export { type TlsIdentity };

const pem = z.string().startsWith("-----BEGIN ", "is not PEM").optional();

/**
 * Who this process is on the wire. Given as TLS_CERT_FILE, TLS_KEY_FILE and TLS_CA_FILE, all or none: with them it talks and listens by mutual
 * TLS only.
 */
export const tlsShape = {
  TLS_CERT: pem,
  TLS_KEY: pem,
  TLS_CA: pem,
};

export const tlsRule = rule(tlsShape, (given) => {
  const missing = (["TLS_CERT", "TLS_KEY", "TLS_CA"] as const).filter((name) => given[name] === undefined);
  if (missing.length === 3) return [];
  return missing.map((name) => `${name}_FILE is not set: the three of TLS go together`);
});

export function readTls(config: z.output<z.ZodObject<typeof tlsShape>>): TlsIdentity | undefined {
  const given = [config.TLS_CERT, config.TLS_KEY, config.TLS_CA].filter((text) => text !== undefined);
  if (given.length === 0) return undefined;
  assert(given.length === 3, "TLS_CERT_FILE, TLS_KEY_FILE and TLS_CA_FILE go together");
  const [cert, key, ca] = given.map((text) => Buffer.from(text));
  return { cert: cert!, key: key!, ca: ca! };
}
