import { generateKeyPairSync, type KeyObject, randomBytes, sign } from "node:crypto";
import { type TlsIdentity } from "../grpc/tls";

const DAY_MS = 86_400_000;

/**
 * A certificate authority for tests and for a local stack, whose key is never stored. Node creates
 * keys and signatures but no certificates, so their few bytes are encoded here (RFC 5280).
 */
export function makeAuthority(name: string, days = 1) {
  const authority = generateKeyPairSync("ed25519");
  const ca = certificate({
    subject: name,
    issuer: name,
    names: [],
    publicKey: authority.publicKey,
    isAuthority: true,
  });
  return {
    /** `names` are "DNS:…" or "URI:…". */
    issue(subject: string, names: string[]): TlsIdentity {
      const { publicKey, privateKey } = generateKeyPairSync("ed25519");
      const cert = certificate({ subject, issuer: name, names, publicKey, isAuthority: false });
      const key = Buffer.from(privateKey.export({ type: "pkcs8", format: "pem" }));
      return { ca, cert, key };
    },
  };

  function certificate({ subject, issuer, names, publicKey, isAuthority }: Contents): Buffer {
    const extensions = [
      der(
        0x30,
        OID.basicConstraints,
        der(0x04, der(0x30, ...(isAuthority ? [der(0x01, Buffer.from([0xff]))] : []))),
      ),
      ...(names.length > 0
        ? [der(0x30, OID.subjectAltName, der(0x04, der(0x30, ...names.map(altName))))]
        : []),
    ];
    const toBeSigned = der(
      0x30,
      der(0xa0, der(0x02, Buffer.from([2]))),
      der(0x02, Buffer.concat([Buffer.from([0x01]), randomBytes(8)])),
      der(0x30, OID.ed25519),
      distinguishedName(issuer),
      der(0x30, time(Date.now() - 60_000), time(Date.now() + days * DAY_MS)),
      distinguishedName(subject),
      publicKey.export({ type: "spki", format: "der" }),
      der(0xa3, der(0x30, ...extensions)),
    );
    const signature = Buffer.concat([Buffer.from([0]), sign(null, toBeSigned, authority.privateKey)]);
    const whole = der(0x30, toBeSigned, der(0x30, OID.ed25519), der(0x03, signature));
    const lines = whole
      .toString("base64")
      .match(/.{1,64}/g)!
      .join("\n");
    return Buffer.from(`-----BEGIN CERTIFICATE-----\n${lines}\n-----END CERTIFICATE-----\n`);
  }
}

interface Contents {
  subject: string;
  issuer: string;
  names: string[];
  publicKey: KeyObject;
  isAuthority: boolean;
}

const OID = {
  ed25519: der(0x06, Buffer.from("2b6570", "hex")),
  commonName: der(0x06, Buffer.from("550403", "hex")),
  subjectAltName: der(0x06, Buffer.from("551d11", "hex")),
  basicConstraints: der(0x06, Buffer.from("551d13", "hex")),
};

function distinguishedName(name: string): Buffer {
  return der(0x30, der(0x31, der(0x30, OID.commonName, der(0x0c, Buffer.from(name)))));
}

function altName(name: string): Buffer {
  const [kind, value] = [name.slice(0, name.indexOf(":")), name.slice(name.indexOf(":") + 1)];
  return der(kind === "DNS" ? 0x82 : 0x86, Buffer.from(value));
}

/** UTCTime: YYMMDDhhmmssZ. */
function time(ms: number): Buffer {
  return der(0x17, Buffer.from(`${new Date(ms).toISOString().replace(/[-:T]/g, "").slice(2, 14)}Z`));
}

/** One value: tag, length, content. */
function der(tag: number, ...parts: Buffer[]): Buffer {
  const content = Buffer.concat(parts);
  return Buffer.concat([Buffer.from([tag, ...lengthOf(content)]), content]);
}

function lengthOf({ length }: Buffer): number[] {
  if (length < 0x80) return [length];
  return length < 0x100 ? [0x81, length] : [0x82, length >> 8, length & 0xff];
}
