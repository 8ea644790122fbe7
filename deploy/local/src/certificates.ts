import { mkdirSync } from "node:fs";
import { join } from "node:path";
import { makeAuthority } from "@wonrail/kit/testing/certificates";
import type { Home } from "./home";
import { writePrivate } from "./privateFile";

const DAYS = 365;

/**
 * Issues new certificates for all processes at every start, and returns their locations. The
 * authority's key is never stored, so no process can be added later.
 */
export function issueCertificates({ secretsDir }: Home, names: string[]): Record<string, TlsEnv> {
  const dir = join(secretsDir, "tls");
  mkdirSync(dir, { recursive: true, mode: 0o700 });
  const authority = makeAuthority("Wonrail local stack", DAYS);
  return Object.fromEntries(
    names.map((name) => {
      const { cert, key, ca } = authority.issue(name, [`DNS:${name}`]);
      const write = (suffix: string, pem: Buffer): string => {
        const file = join(dir, `${name}${suffix}`);
        writePrivate(file, pem.toString());
        return file;
      };
      const TLS_CERT_FILE = write(".crt", cert);
      return [name, { TLS_CERT_FILE, TLS_KEY_FILE: write(".key", key), TLS_CA_FILE: write(".ca.crt", ca) }];
    }),
  );
}

export type TlsEnv = Record<"TLS_CERT_FILE" | "TLS_KEY_FILE" | "TLS_CA_FILE", string>;
