import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { createKeyring, type SealedSeed } from "./keyring";
import { openCurve } from "./curve";
import { fileKms } from "@wonrail/kit/kms";

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

test("a seed row of one organisation does not open as another's", async () => {
  const keyring = createKeyring({ kms: fileKms(path), curve: openCurve() });
  const sealed = await keyring.newSeed("org_a");
  const stolen: SealedSeed = { ...sealed, orgId: "org_b" };
  await expect(keyring.withSeed(stolen, (keys) => keys.address(0))).rejects.toThrow();
});

test("sealing under a new key keeps every address", async () => {
  const keyring = createKeyring({ kms: fileKms(path), curve: openCurve() });
  const sealed = await keyring.newSeed("org_a");
  const address = await keyring.withSeed(sealed, (keys) => keys.address(3));
  writeKeys("k2", ["k1", "k2"]);
  const resealed = await keyring.reseal(sealed);
  writeKeys("k2", ["k2"]);
  expect(resealed.keyId).toBe("k2");
  expect(await keyring.withSeed(resealed, (keys) => keys.address(3))).toBe(address);
});
