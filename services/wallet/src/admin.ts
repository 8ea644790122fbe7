import { setTimeout as sleep } from "node:timers/promises";
import { Command, CommanderError } from "commander";
import { openDatabase, type Database } from "@wonrail/kit/db";
import { isId, newId } from "@wonrail/kit/ids";
import { createLog } from "@wonrail/kit/log";
import { beginReopening } from "./commands/reopenWallets";
import { resealSeeds } from "./commands/resealSeeds";
import { readAdminConfig } from "./config";
import { openCurve } from "./keys/curve";
import { createKeyring, type Keyring } from "./keys/keyring";
import { fileKms } from "./keys/kms";
import { checkSeals } from "./queries/checkSeals";
import { findReopening } from "./store/reopenings";
import { findWallet } from "./store/wallets";

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

Tokens that reached a wallet after it was deactivated:
  $ npm run admin:wallet -- wallet reopen --org org_0192f0c1a2b37c4d8e5f60718293a4b5 --wallet wal_0192f0c1a2b37c4d8e5f60718293a4b5
  It is ACTIVE from then on; its partner moves the money, and deactivates it again.

Works on DATABASE_URL and KEK_PATH, or else on the stack that "npm run up" started.`;

/** What the commands see of the outside. */
export interface World {
  db: Database;
  keyring: Keyring;
  operator: string;
  out: (text: string) => void;
  err: (text: string) => void;
  /** How long a command waits for what the service has to do. */
  patienceMs: number;
}

const PATIENCE_MS = 30_000;
const LOOK_EVERY_MS = 100;

export async function main(args: string[]): Promise<number> {
  const { databaseUrl, kekPath, operator } = readAdminConfig();
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
    const out = (text: string) => void process.stdout.write(`${text}\n`);
    const err = (text: string) => void process.stderr.write(`${text}\n`);
    return await runAdmin(args, { db, keyring, operator, out, err, patienceMs: PATIENCE_MS });
  } finally {
    await db.close();
  }
}

export async function runAdmin(args: string[], world: World): Promise<number> {
  try {
    await createProgram(world).parseAsync(args, { from: "user" });
    return 0;
  } catch (error) {
    if (error instanceof CommanderError) return error.exitCode === 0 ? 0 : 2;
    world.err(error instanceof Error ? error.message : String(error));
    return 1;
  }
}

function createProgram(world: World): Command {
  const program = new Command("admin:wallet")
    .description("Custody, and wallets that are to be reopened.")
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
  const wallet = program.command("wallet").description("users' wallets").exitOverride();
  wallet
    .command("reopen")
    .description("make a deactivated wallet ACTIVE again, for what reached its address since then")
    .requiredOption("--org <id>", "whose wallet it is")
    .requiredOption("--wallet <id>", "the wallet")
    .action((options: { org: string; wallet: string }) => reopen(world, options));
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

/** The service does it, with its own name towards the ledger and under its own log; this waits for it. */
async function reopen(world: World, { org: orgId, wallet: walletId }: { org: string; wallet: string }) {
  const { db, operator, out, patienceMs } = world;
  if (!isId("org", orgId)) throw new Error("--org is an organisation's id: org_ and 32 hex digits.");
  if (!isId("wal", walletId)) throw new Error("--wallet is a wallet's id: wal_ and 32 hex digits.");
  const begun = await beginReopening({ db, newRequestId: () => newId("req") }, { orgId, walletId, operator });
  if (begun === undefined) throw new Error(`${orgId} has no wallet ${walletId}.`);
  if (typeof begun === "string")
    throw new Error(`${walletId} is ${begun}: only one that is DEACTIVATED can be reopened.`);

  const untilMs = Date.now() + patienceMs;
  for (;;) {
    const waiting = await findReopening(db, orgId, walletId);
    if (waiting?.requestId !== begun.requestId) break;
    if (Date.now() >= untilMs)
      throw new Error(
        `${walletId} is not reopened yet. It is written down, and the service goes on with it: see its log, job reopen_wallets.`,
      );
    await sleep(LOOK_EVERY_MS);
  }
  const wallet = await findWallet(db, orgId, walletId);
  out(`${walletId} was reopened and is ${wallet?.status} now.`);
}
