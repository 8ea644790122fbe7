import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { fileKms, type SealContext } from "./kms";

let folder: string;
let path: string;

function writeKeys(current: string, ids: string[]): void {
  const keys = Object.fromEntries(ids.map((id) => [id, Buffer.alloc(32, id).toString("base64")]));
  writeFileSync(path, JSON.stringify({ current, keys }));
}

beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), "kms-"));
  path = join(folder, "kek.json");
  writeKeys("k1", ["k1"]);
});
afterEach(() => rmSync(folder, { recursive: true }));

const context: SealContext = { orgId: "org_a", objectId: "", purpose: "seed", version: 1 };
const SECRET_KEY = "q83vEjRWeJCrze8SNFZ4kKvN7xI0VniQq83vEjRWeJA=";
const secret = Buffer.from("thirty-two bytes of a good seed!");

test("a sealed secret opens in its own context", async () => {
  const kms = fileKms(path);
  const sealed = await kms.seal(secret, context);
  expect(sealed.bytes.includes(secret)).toBe(false);
  expect(await kms.open(sealed, context)).toEqual(secret);
});

test.each<Partial<SealContext>>([
  { orgId: "org_b" },
  { objectId: "wal_1" },
  { version: 2 },
  { orgId: "org_", objectId: "a" },
])("a sealed secret does not open in the context %j", async (other) => {
  const kms = fileKms(path);
  const sealed = await kms.seal(secret, context);
  await expect(kms.open(sealed, { ...context, ...other })).rejects.toThrow();
});

test("a changed byte is detected at any position", async () => {
  const kms = fileKms(path);
  const sealed = await kms.seal(secret, context);
  for (let index = 0; index < sealed.bytes.length; index += 1) {
    const bytes = Buffer.from(sealed.bytes);
    bytes[index]! ^= 1;
    await expect(kms.open({ ...sealed, bytes }, context)).rejects.toThrow();
  }
});

test("a newly mounted key seals at once, and the old one still opens", async () => {
  const kms = fileKms(path);
  const before = await kms.seal(secret, context);
  writeKeys("k2", ["k1", "k2"]);
  const after = await kms.seal(secret, context);
  expect([before.keyId, after.keyId]).toEqual(["k1", "k2"]);
  expect(await kms.open(before, context)).toEqual(secret);
});

test.each([
  ["a key of the wrong length", JSON.stringify({ current: "k1", keys: { k1: "c2hvcnQ=" } })],
  ["no current key", JSON.stringify({ current: "k9", keys: { k1: Buffer.alloc(32).toString("base64") } })],
  ["another form", JSON.stringify({ current: "k1", keys: { k1: 1 }, [SECRET_KEY]: SECRET_KEY })],
  ["no JSON", `{"current":"k1","keys":{"k1": ${SECRET_KEY}}}`],
])("a key file with %s is refused without showing a key", (_, text) => {
  writeFileSync(path, text);
  const { message, stack } = errorOf(() => fileKms(path));
  expect(message).toMatch(/key-encryption key/);
  expect(`${message} ${stack}`).not.toContain(SECRET_KEY.slice(0, 4));
});

function errorOf(work: () => unknown): Error {
  try {
    work();
  } catch (error) {
    return error as Error;
  }
  throw new Error("it was not refused");
}
