import { createHash, createHmac, randomBytes } from "node:crypto";
import { crc32 } from "node:zlib";

// The form of the two credentials that partners hold. The service that issues them and the gateway that reads them share it.
//
//   API key      wk_test_<id: 12>_<secret: 32><checksum: 6>
//   secret key   sk_test_<secret: 43><checksum: 6>
//
// All three parts are base62, so a double click selects the whole key and no encoding changes it. 32 characters carry 190 random
// bits, 43 carry 256. The checksum lets anybody refuse a mistyped key, and a scanner recognise a leaked one, without a look-up.

/** "test" and "live" keys cannot be confused: the mode is part of the hash. */
export type KeyMode = "test" | "live";

/** A new API key. `text` is shown once and stored nowhere. */
export interface NewApiKey {
  text: string;
  /** "wk_test_<id>": names the key in lists and logs, and finds its row. */
  prefix: string;
  hash: Buffer;
}

/** The part of a received key that may leave the process. */
export interface PresentedApiKey {
  prefix: string;
  hash: Buffer;
}

const ALPHABET = "0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz";
const ID_LENGTH = 12;
const API_SECRET_LENGTH = 32;
const SECRET_KEY_LENGTH = 43;
const CHECKSUM_LENGTH = 6;
const PREFIX = "wk_(?:test|live)_[0-9A-Za-z]{12}";
const KEY_PREFIX = new RegExp(`^${PREFIX}$`);
const API_KEY = new RegExp(`^(${PREFIX})_[0-9A-Za-z]{38}$`);
const SECRET_KEY = /^sk_(?:test|live)_[0-9A-Za-z]{49}$/;

export function createApiKey(mode: KeyMode, random: (size: number) => Buffer = randomBytes): NewApiKey {
  return assemble(mode, randomBase62(ID_LENGTH, random), randomBase62(API_SECRET_LENGTH, random));
}

/**
 * Derives an API key from a secret key and a salt. Equal inputs give the same key, so a
 * refresh whose answer was lost can be repeated although only hashes are stored. Without the secret
 * key it is as random as any other.
 */
export function deriveApiKey(mode: KeyMode, secretKey: string, salt: Buffer): NewApiKey {
  const stream = hmacStream(secretKey, salt);
  return assemble(mode, randomBase62(ID_LENGTH, stream), randomBase62(API_SECRET_LENGTH, stream));
}

/** Returns undefined for a malformed key or a wrong checksum, which need no look-up. */
export function parseApiKey(text: string): PresentedApiKey | undefined {
  const prefix = API_KEY.exec(text)?.[1];
  if (prefix === undefined || !hasChecksum(text)) return undefined;
  return { prefix, hash: sha256(text) };
}

export function isKeyPrefix(text: string): boolean {
  return KEY_PREFIX.test(text);
}

export function createSecretKey(
  mode: KeyMode,
  random: (size: number) => Buffer = randomBytes,
): { text: string; hash: Buffer } {
  const text = withChecksum(`sk_${mode}_${randomBase62(SECRET_KEY_LENGTH, random)}`);
  return { text, hash: sha256(text) };
}

/** Undefined when the text has not the form of a secret key or its checksum is wrong. */
export function parseSecretKey(text: string): { hash: Buffer } | undefined {
  return SECRET_KEY.test(text) && hasChecksum(text) ? { hash: sha256(text) } : undefined;
}

function assemble(mode: KeyMode, id: string, secret: string): NewApiKey {
  const prefix = `wk_${mode}_${id}`;
  const text = withChecksum(`${prefix}_${secret}`);
  return { text, prefix, hash: sha256(text) };
}

function withChecksum(body: string): string {
  return body + checksumOf(body);
}

function hasChecksum(text: string): boolean {
  return text.endsWith(checksumOf(text.slice(0, -CHECKSUM_LENGTH)));
}

/** CRC-32 in six base62 digits. It detects typing errors, not attacks. */
function checksumOf(body: string): string {
  let rest = crc32(body);
  let digits = "";
  for (let i = 0; i < CHECKSUM_LENGTH; i += 1) {
    digits = ALPHABET[rest % 62]! + digits;
    rest = Math.floor(rest / 62);
  }
  return digits;
}

/** Discards bytes from 248 up, which would make the first eight digits more frequent. */
function randomBase62(length: number, random: (size: number) => Buffer): string {
  let text = "";
  while (text.length < length) {
    for (const byte of random(length)) {
      if (byte < 248 && text.length < length) text += ALPHABET[byte % 62]!;
    }
  }
  return text;
}

/** HMAC-SHA256 in counter mode: a stream determined by secret and salt. */
function hmacStream(secretKey: string, salt: Buffer): (size: number) => Buffer {
  let counter = 0;
  return (size) => {
    const blocks: Buffer[] = [];
    for (let filled = 0; filled < size; filled += 32) {
      blocks.push(createHmac("sha256", secretKey).update(`wonrail api key ${counter}`).update(salt).digest());
      counter += 1;
    }
    return Buffer.concat(blocks).subarray(0, size);
  };
}

function sha256(text: string): Buffer {
  return createHash("sha256").update(text).digest();
}
