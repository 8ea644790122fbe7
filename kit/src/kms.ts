import { createCipheriv, createDecipheriv, randomBytes } from "node:crypto";
import { readFileSync } from "node:fs";
import { z } from "zod";

/**
 * Seals small secrets under a key-encryption key. A cloud's KMS can implement the same two calls.
 */
export interface Kms {
  /** The name of the current key. Older keys still open their seals. */
  readonly currentKeyId: string;
  seal(plaintext: Uint8Array, context: SealContext): Promise<Sealed>;
  open(sealed: Sealed, context: SealContext): Promise<Buffer>;
}

export interface Sealed {
  keyId: string;
  bytes: Buffer;
}

/** Bound into the seal: bytes moved to another organisation, object, purpose or version do not open. */
export interface SealContext {
  orgId: string;
  /** Empty for a secret of the whole organisation. */
  objectId: string;
  purpose: "seed" | "webhook";
  version: number;
}

/** The key file is unusable. The message names keys and shows nothing else of the file. */
export class KeyFileProblem extends Error {
  override readonly name = "KeyFileProblem";
}

const KEY_BYTES = 32;
const NONCE_BYTES = 12;
const TAG_BYTES = 16;

const keyFile = z.strictObject({
  current: z.string().min(1),
  keys: z.record(
    z.string(),
    z.string().transform((text) => Buffer.from(text, "base64")),
  ),
});

/**
 * Key-encryption keys from a file (a mounted Secret): {"current": "2026-11", "keys": {"2026-11": "<32 bytes, base64>"}}.
 * The file is read again for a key that is not known yet, so a new one can be mounted while the service runs.
 */
export function fileKms(path: string): Kms {
  let loaded = readKeys(path);
  const keyOf = (keyId: string): Buffer => {
    if (!loaded.keys.has(keyId)) loaded = readKeys(path);
    const key = loaded.keys.get(keyId);
    if (!key) throw new Error(`the key-encryption key ${keyId} is not in the key file`);
    return key;
  };
  return {
    get currentKeyId() {
      loaded = readKeys(path);
      return loaded.current;
    },
    async seal(plaintext, context) {
      const keyId = this.currentKeyId;
      const nonce = randomBytes(NONCE_BYTES);
      const cipher = createCipheriv("aes-256-gcm", keyOf(keyId), nonce).setAAD(additionalData(context));
      const bytes = Buffer.concat([nonce, cipher.update(plaintext), cipher.final(), cipher.getAuthTag()]);
      return { keyId, bytes };
    },
    async open({ keyId, bytes }, context) {
      const nonce = bytes.subarray(0, NONCE_BYTES);
      const tag = bytes.subarray(bytes.length - TAG_BYTES);
      const decipher = createDecipheriv("aes-256-gcm", keyOf(keyId), nonce)
        .setAAD(additionalData(context))
        .setAuthTag(tag);
      // `update` gives all bytes and `final` adds none, so there is no second copy to wipe.
      const opened = decipher.update(bytes.subarray(NONCE_BYTES, -TAG_BYTES));
      try {
        decipher.final();
      } catch (error) {
        opened.fill(0);
        throw error;
      }
      return opened;
    },
  };
}

/** Each part is preceded by its length, so two contexts never have the same bytes. */
function additionalData({ orgId, objectId, purpose, version }: SealContext): Buffer {
  return Buffer.from(
    ["wonrail", orgId, objectId, purpose, String(version)].map((part) => `${part.length}:${part}`).join(""),
  );
}

function readKeys(path: string): { current: string; keys: Map<string, Buffer> } {
  const parsed = keyFile.safeParse(parseJson(readText(path)));
  if (!parsed.success)
    throw new KeyFileProblem(
      'the file of key-encryption keys is not {"current": "<name>", "keys": {"<name>": "<32 bytes, base64>"}}',
    );
  const { current, keys } = parsed.data;
  const byId = new Map(Object.entries(keys));
  for (const [keyId, key] of byId) {
    if (key.length !== KEY_BYTES)
      throw new KeyFileProblem(`the key-encryption key ${keyId} is not ${KEY_BYTES} bytes`);
  }
  if (!byId.has(current))
    throw new KeyFileProblem(`the current key-encryption key ${current} is not in the key file`);
  return { current, keys: byId };
}

function readText(path: string): string {
  try {
    return readFileSync(path, "utf8");
  } catch (error) {
    const { code } = error as NodeJS.ErrnoException;
    throw new KeyFileProblem(`the file of key-encryption keys, ${path}, cannot be read: ${code}`);
  }
}

/** The parser's own error quotes the file, which may be a part of a key. */
function parseJson(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    throw new KeyFileProblem("the file of key-encryption keys is not JSON");
  }
}
