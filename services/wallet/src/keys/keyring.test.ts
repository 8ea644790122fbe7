import { createDecipheriv } from "node:crypto";
import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { type Curve, nativeCurve } from "./curve";
import { createKeyring } from "./keyring";
import { fileKms } from "@wonrail/kit/kms";

const folder = mkdtempSync(join(tmpdir(), "keyring-"));
const path = join(folder, "kek.json");
writeFileSync(path, JSON.stringify({ current: "k", keys: { k: Buffer.alloc(32, 1).toString("base64") } }));
afterAll(() => rmSync(folder, { recursive: true }));

test("signing wipes every seed and key from its buffers", async () => {
  const native = nativeCurve();
  // ethers turns a key into strings and numbers, which cannot be wiped.
  if (!native) return;
  const secrets: Uint8Array[] = [];
  const curve: Curve = {
    ...native,
    sign: (digest, key) => native.sign(digest, noted(key)),
    addToKey: (key, tweak) => noted(native.addToKey(noted(key), noted(tweak))!),
  };
  const keyring = createKeyring({ kms: fileKms(path), curve });
  const sealed = await keyring.newSeed("org_a");
  const update = jest.spyOn(decipherPrototype(), "update");
  const signature = await keyring.withSeed(sealed, (keys) => keys.sign(0, Buffer.alloc(32, 7)));
  secrets.push(...update.mock.results.map(({ value }) => value as Buffer));
  update.mockRestore();

  expect(signature).toHaveLength(65);
  // The seed; the parent, the tweak and the child of three derivations; the key that signs.
  expect(secrets).toHaveLength(1 + 3 * 3 + 1);
  expect(secrets.filter((secret) => secret.some((byte) => byte !== 0))).toEqual([]);

  function noted<T extends Uint8Array>(secret: T): T {
    secrets.push(secret);
    return secret;
  }
});

function decipherPrototype(): { update(data: Buffer): Buffer } {
  const decipher = createDecipheriv("aes-256-gcm", Buffer.alloc(32), Buffer.alloc(12));
  return Object.getPrototypeOf(decipher) as { update(data: Buffer): Buffer };
}
