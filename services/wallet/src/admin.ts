import { join } from "node:path";
import { Command } from "commander";
import {
  CouldNotRun,
  openWorld,
  organisationId,
  PATIENCE_MS,
  Refusal,
  runCommands,
  waitForService,
  withDatabase,
  type ExitCode,
  type World as CommandWorld,
} from "@wonrail/kit/command";
import { type Database } from "@wonrail/kit/db";
import { isId, newId } from "@wonrail/kit/contract/ids";
import { localHome } from "@wonrail/kit/localStack";
import { operatorOf } from "@wonrail/kit/operator";
import { beginReopening } from "./commands/reopenWallets";
import { resealSeeds } from "./commands/resealSeeds";
import { readAdminConfig, type AdminConfig } from "./config";
import { openCurve } from "./keys/curve";
import { createKeyring, type Keyring } from "./keys/keyring";
import { fileKms, KeyFileProblem } from "@wonrail/kit/kms";
import { checkSeals } from "./queries/checkSeals";
import { findReopening } from "./store/reopenings";
import { findWallet } from "./store/wallets";

// The operators' commands. They use the service's own commands on its database and key file, while
// the service runs.

const EXAMPLES = `
Rotating the key-encryption key:
  1. Add a new key to the key file beside the old one, and wait until every process reads that file:
       {"current": "2026-11", "keys": {"2026-11": "…", "2026-12": "<32 random bytes, base64>"}}
  2. Make it the current one. In one step with the first, a process that has it would seal what another cannot open yet.
  3. $ npx wonrail kek rotate
  4. $ npx wonrail kek status        (all seeds under the new one)
  5. Take the old key out of the file, and keep it offline for as long as there is a backup of the database from before step 3: without it
     the seeds in that backup never open again.

Tokens that reached a wallet after it was deactivated:
  $ npx wonrail wallet reopen --org org_0192f0c1a2b37c4d8e5f60718293a4b5 --wallet wal_0192f0c1a2b37c4d8e5f60718293a4b5
  It is ACTIVE from then on; its partner moves the money, and deactivates it again.

Works on DATABASE_URL and KEK_PATH, or else on the stack that "npm run up" started.`;

interface World extends CommandWorld<AdminConfig> {
  /** The longest time that a command waits for the service. */
  patienceMs: number;
}

export function main(args: string[]): Promise<ExitCode> {
  return runAdmin(args, createWorld());
}

/** The commands that `wonrail` lists. */
export function listCommands(): readonly Command[] {
  return createProgram(createWorld()).commands;
}

function createWorld(): World {
  return Object.assign(openWorld(readAdminConfig), { patienceMs: PATIENCE_MS });
}

export function runAdmin(args: string[], world: World): Promise<ExitCode> {
  return runCommands(createProgram(world), args, world);
}

function createProgram(world: World): Command {
  const inWallet = (work: (db: Database) => Promise<void>) => withDatabase(world.config, "wallet", work);
  const program = new Command("wonrail")
    .description("Custody, and wallets that are to be reopened.")
    .addHelpText("after", EXAMPLES);
  const kek = program.command("kek").description("key-encryption keys");
  kek
    .command("status")
    .description("count the seeds under each key, and check that they open with the key file")
    .action(() => inWallet((db) => showStatus(db, world)));
  kek
    .command("rotate")
    .description("seal every seed under the current key while the service runs")
    .action(() => inWallet((db) => rotate(db, world)));
  const wallet = program.command("wallet").description("users' wallets");
  wallet
    .command("reopen")
    .description("make a deactivated wallet ACTIVE again, so that tokens on its address can move")
    .requiredOption("--org <id>", "whose wallet it is", organisationId)
    .requiredOption("--wallet <id>", "the wallet")
    .action((options: ReopenOptions) => inWallet((db) => reopen(db, world, options)));
  return program;
}

async function showStatus(db: Database, { config, out }: World): Promise<void> {
  const keyring = openKeyring(config);
  const checks = await checkSeals({ db, keyring });
  out(`current key: ${keyring.currentKeyId}\n`);
  for (const { kekId, seeds, problem } of checks)
    out(`  ${kekId}: ${seeds} seeds, ${problem === null ? "one was opened" : `NOT OPENED: ${problem}`}\n`);
  if (checks.length === 0) out("  no seeds yet\n");
  const closed = checks.filter(({ problem }) => problem !== null);
  if (closed.length > 0)
    throw new Refusal(
      `Wallets under ${closed.map(({ kekId }) => kekId).join(", ")} cannot sign: add that key to the key file again.`,
    );
}

async function rotate(db: Database, { config, out }: World): Promise<void> {
  const keyring = openKeyring(config);
  const { resealed, unopened } = await resealSeeds({ db, keyring }, (soFar) =>
    out(`  ${soFar} sealed again\n`),
  );
  out(`${resealed} seeds are now under ${keyring.currentKeyId}.\n`);
  if (unopened.length > 0)
    throw new Refusal(
      `${unopened.length} seeds could not be decrypted and were not changed: ${unopened.join(", ")}. ` +
        "Keep the old key, and restore their rows from a backup.",
    );
}

function openKeyring({ KEK_PATH, WONRAIL_HOME }: AdminConfig): Keyring {
  const path = KEK_PATH ?? join(localHome(WONRAIL_HOME), "secrets", "kek.json");
  try {
    return createKeyring({ kms: fileKms(path), curve: openCurve() });
  } catch (error) {
    if (error instanceof KeyFileProblem)
      throw new CouldNotRun(`KEK_PATH: ${error.message}. Start the stack with npm run up, or set KEK_PATH.`);
    throw error;
  }
}

interface ReopenOptions {
  org: string;
  wallet: string;
}

/** Waits for the service, which reopens the wallet under its own name and log. */
async function reopen(
  db: Database,
  { config, out, patienceMs }: World,
  { org: orgId, wallet: walletId }: ReopenOptions,
): Promise<void> {
  if (!isId("wal", walletId)) throw new Refusal("--wallet must be a wallet's id: wal_ and 32 hex digits.");
  const wanted = { orgId, walletId, operator: operatorOf(config) };
  const begun = await beginReopening({ db, newRequestId: () => newId("req") }, wanted);
  if (begun === undefined) throw new Refusal(`${orgId} has no wallet ${walletId}.`);
  if (typeof begun === "string")
    throw new Refusal(`${walletId} is ${begun}: only a DEACTIVATED wallet can be reopened.`);

  const isDone = async () =>
    (await findReopening(db, orgId, walletId))?.requestId === begun.requestId ? null : "done";
  await waitForService(isDone, { patienceMs, what: `${walletId} is not reopened`, job: "reopen_wallets" });
  const wallet = await findWallet(db, orgId, walletId);
  out(`${walletId} was reopened and is ${wallet?.status} now.\n`);
}
