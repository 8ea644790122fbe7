import { createHash } from "node:crypto";
import fc from "fast-check";
import {
  createApiKey,
  createSecretKey,
  deriveApiKey,
  isKeyPrefix,
  parseApiKey,
  parseSecretKey,
} from "./apiKey";

test("an API key reads wk_<mode>_<id>_<secret><checksum> and parses to its prefix and hash", () => {
  const key = createApiKey("test");
  expect(key.text).toMatch(/^wk_test_[0-9A-Za-z]{12}_[0-9A-Za-z]{38}$/);
  expect(key.prefix).toBe(key.text.slice(0, 20));
  expect(key.hash).toEqual(createHash("sha256").update(key.text).digest());
  expect(parseApiKey(key.text)).toEqual({ prefix: key.prefix, hash: key.hash });
});

test("a key prefix is recognised, and neither a key nor a part of one", () => {
  const { prefix, text } = createApiKey("live");
  expect(isKeyPrefix(prefix)).toBe(true);
  for (const other of ["", text, prefix.slice(0, -1), ` ${prefix}`]) expect(isKeyPrefix(other)).toBe(false);
});

test("a secret key parses to its hash", () => {
  const key = createSecretKey("live");
  expect(key.text).toMatch(/^sk_live_[0-9A-Za-z]{49}$/);
  expect(parseSecretKey(key.text)).toEqual({ hash: key.hash });
});

test("a change of any one character is detected by format or checksum", () => {
  const keys = [createApiKey("test").text, createSecretKey("test").text];
  fc.assert(
    fc.property(
      fc.constantFrom(...keys),
      fc.nat(),
      fc.string({ minLength: 1, maxLength: 1 }),
      (key, at, to) => {
        const position = at % key.length;
        fc.pre(key[position] !== to);
        const changed = key.slice(0, position) + to + key.slice(position + 1);
        expect(parseApiKey(changed) ?? parseSecretKey(changed)).toBeUndefined();
      },
    ),
    { numRuns: 2000 },
  );
});

test.each([
  "",
  "wk_test_",
  "wk_prod_abcdefghijkl_" + "a".repeat(38),
  " " + createApiKey("test").text,
  createApiKey("test").text + "\n",
  createApiKey("test").text.toUpperCase(),
  createApiKey("test").text.replace("test", "live"),
  createSecretKey("test").text,
  "wk_test_" + "é".repeat(51),
  "a".repeat(100_000),
])("refuses %j as an API key", (text) => {
  expect(parseApiKey(text)).toBeUndefined();
});

test("10,000 keys are distinct and use every character evenly", () => {
  const secrets = Array.from({ length: 10_000 }, () => createApiKey("test").text.slice(21, 53));
  expect(new Set(secrets).size).toBe(10_000);
  const counts = new Map<string, number>();
  for (const character of secrets.join("")) counts.set(character, (counts.get(character) ?? 0) + 1);
  const expected = (10_000 * 32) / 62;
  let chiSquare = 0;
  for (const seen of counts.values()) chiSquare += (seen - expected) ** 2 / expected;
  expect(counts.size).toBe(62);
  // 61 degrees of freedom: a fair generator exceeds 130 about once in a million runs.
  expect(chiSquare).toBeLessThan(130);
  expect(32 * Math.log2(62)).toBeGreaterThan(128);
});

test("a derived key depends only on secret key, salt and mode", () => {
  const salt = Buffer.alloc(16, 7);
  const secret = createSecretKey("test").text;
  const key = deriveApiKey("test", secret, salt);
  expect(parseApiKey(key.text)).toEqual({ prefix: key.prefix, hash: key.hash });
  expect(deriveApiKey("test", secret, salt)).toEqual(key);
  const others = [
    deriveApiKey("test", secret, Buffer.alloc(16, 8)),
    deriveApiKey("test", createSecretKey("test").text, salt),
    deriveApiKey("live", secret, salt),
  ];
  for (const other of others) expect(other.text).not.toBe(key.text);
});

test("bytes that would bias the characters are discarded", () => {
  const bytes = [255, 250, 248, 247, 61, 0];
  const key = createApiKey("test", (size) =>
    Buffer.from(Array.from({ length: size }, (_, i) => bytes[i % 6]!)),
  );
  expect(key.text).toMatch(/^wk_test_zz0zz0zz0zz0_/);
});
