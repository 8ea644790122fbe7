import { Command, CommanderError } from "commander";
import { openDatabase, type Database } from "@wonrail/kit/db";
import { createLog } from "@wonrail/kit/log";
import { resealSeeds } from "./commands/resealSeeds";
import { readAdminConfig } from "./config";
import { openCurve } from "./keys/curve";
import { createKeyring, type Keyring } from "./keys/keyring";
import { fileKms } from "./keys/kms";
import { checkSeals } from "./queries/checkSeals";

// The operators' door. It works on the database and the key file with the service's own commands, while the service runs.

const EXAMPLES = `
Rotating the key-encryption key:
  1. Add a new key to the key file beside the old one, and wait until every process reads that file:
       {"current": "2026-11", "keys": {"2026-11": "…", "2026-12": "<32 random bytes, base64>"}}
  2. Make it the current one. In one step with the first, a process that has it would seal what another cannot open yet.
  3. $ npm run admin:wallet -- kek rotate
  4. $ npm run admin:wallet -- kek status        (all seeds under the new one)
  5. Take the old key out of the file, and keep it offline for as long as there is a backup of the database from before step 3: without it
     the seeds in that backup never open again.

Works on DATABASE_URL and KEK_PATH, or else on the stack that "npm run up" started.`;

interface World {
  db: Database;
  keyring: Keyring;
  out: (text: string) => void;
}

export async function main(args: string[]): Promise<number> {
  const { databaseUrl, kekPath } = readAdminConfig();
  const log = createLog({ service: "wallet-admin", level: "error" });
  const db = openDatabase({
    url: databaseUrl,
    schema: "wallet",
    applicationName: "wallet-admin",
    max: 2,
    log,
  });
  const keyring = createKeyring({ kms: fileKms(kekPath), curve: openCurve() });
  try {
    const world = { db, keyring, out: (text: string) => void process.stdout.write(`${text}\n`) };
    await createProgram(world).parseAsync(args, { from: "user" });
    return 0;
  } catch (error) {
    if (error instanceof CommanderError) return error.exitCode === 0 ? 0 : 2;
    process.stderr.write(`${error instanceof Error ? error.message : String(error)}\n`);
    return 1;
  } finally {
    await db.close();
  }
}

function createProgram(world: World): Command {
  const program = new Command("admin:wallet")
    .description("Custody.")
    .addHelpText("after", EXAMPLES)
    .exitOverride();
  const kek = program.command("kek").description("key-encryption keys").exitOverride();
  kek
    .command("status")
    .description("how many seeds are sealed under which key, and whether they open with the key file")
    .action(() => showStatus(world));
  kek
    .command("rotate")
    .description("seal every seed under the current key; nothing waits for it")
    .action(() => rotate(world));
  return program;
}

async function showStatus({ db, keyring, out }: World): Promise<void> {
  const checks = await checkSeals({ db, keyring });
  out(`current key: ${keyring.currentKeyId}`);
  for (const { kekId, seeds, problem } of checks)
    out(`  ${kekId}: ${seeds} seeds, ${problem === null ? "one was opened" : `NOT OPENED: ${problem}`}`);
  if (checks.length === 0) out("  no seeds yet");
  const closed = checks.filter(({ problem }) => problem !== null);
  if (closed.length > 0)
    throw new Error(
      `Wallets under ${closed.map(({ kekId }) => kekId).join(", ")} cannot sign: give the key file that key back.`,
    );
}

async function rotate({ db, keyring, out }: World): Promise<void> {
  const { resealed, unopened } = await resealSeeds({ db, keyring }, (soFar) =>
    out(`  ${soFar} sealed again`),
  );
  out(`${resealed} seeds are now under ${keyring.currentKeyId}.`);
  if (unopened.length > 0)
    throw new Error(
      `${unopened.length} seeds do not open and are as they were: ${unopened.join(", ")}. Keep the old key, and restore their rows from a backup.`,
    );
}
