import { randomUUID } from "node:crypto";
import { link, open, readFile, rename, rm } from "node:fs/promises";
import { join } from "node:path";
import { z } from "zod";
import { type SealedSeed } from "./keyring";

/**
 * Copies of the sealed seeds outside of the database. A seed that was created after a backup is in
 * no backup of the database, and the tokens of its wallets would be lost with it.
 */
export interface SeedEscrow {
  find(orgId: string): Promise<SealedSeed | undefined>;
  /** Stores an organisation's first seed. Returns the stored one, which may be another replica's. */
  deposit(seed: SealedSeed): Promise<SealedSeed>;
  /** Stores another seal of the same seed. */
  replace(seed: SealedSeed): Promise<void>;
}

const content = z.strictObject({
  orgId: z.string(),
  version: z.int().min(1),
  kekId: z.string().min(1),
  sealed: z.base64(),
});

/** Keeps a file for each organisation, in a folder on other storage than the database. */
export function folderEscrow(folder: string): SeedEscrow {
  const fileOf = (orgId: string): string => join(folder, `${orgId}.json`);

  async function find(orgId: string): Promise<SealedSeed | undefined> {
    const text = await readFile(fileOf(orgId), "utf8").catch((error: NodeJS.ErrnoException) => {
      if (error.code === "ENOENT") return undefined;
      throw error;
    });
    if (text === undefined) return undefined;
    const { kekId, sealed, ...seed } = content.parse(JSON.parse(text));
    return { ...seed, keyId: kekId, bytes: Buffer.from(sealed, "base64") };
  }

  return {
    find,
    async deposit(seed) {
      const written = await writeDurably(folder, seed);
      try {
        // A link fails when the file exists, so the first replica's seed stays.
        await link(written, fileOf(seed.orgId));
      } catch (error) {
        if ((error as NodeJS.ErrnoException).code !== "EEXIST") throw error;
        return (await find(seed.orgId))!;
      } finally {
        await rm(written, { force: true });
      }
      await syncFolder(folder);
      return seed;
    },
    async replace(seed) {
      await rename(await writeDurably(folder, seed), fileOf(seed.orgId));
      await syncFolder(folder);
    },
  };
}

async function writeDurably(folder: string, { orgId, version, keyId, bytes }: SealedSeed): Promise<string> {
  const path = join(folder, `.${orgId}-${randomUUID()}`);
  const file = await open(path, "wx", 0o600);
  try {
    const sealed = bytes.toString("base64");
    await file.writeFile(JSON.stringify({ orgId, version, kekId: keyId, sealed }));
    await file.sync();
  } finally {
    await file.close();
  }
  return path;
}

/** Makes the names of the files durable. */
async function syncFolder(folder: string): Promise<void> {
  const handle = await open(folder);
  try {
    await handle.sync();
  } finally {
    await handle.close();
  }
}
