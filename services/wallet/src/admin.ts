import { Command } from "commander";
import {
  type ClientConfig,
  openWorld,
  operatorMessage,
  organisationId,
  PATIENCE_MS,
  printProposal,
  readClientConfig,
  reasonOption,
  Refusal,
  runCommands,
  waitForService,
  withService,
  type ExitCode,
  type World as CommandWorld,
} from "@wonrail/kit/command";
import { isId } from "@wonrail/kit/contract/ids";
import { enumName, type PromiseClient } from "@wonrail/kit/grpc/client";
import { type Operator } from "@wonrail/proto/common/v1/common";
import { WalletAdminServiceService } from "@wonrail/proto/wallet/v1/admin";
import { WalletStatus } from "@wonrail/proto/wallet/v1/wallet";

// The operators' commands. They call the running service (adminRpc.ts).

const EXAMPLES = `
Rotating the key-encryption key:
  1. Add a new key to the key file beside the old one, and wait until every process reads that file:
       {"current": "2026-11", "keys": {"2026-11": "…", "2026-12": "<32 random bytes, base64>"}}
  2. Make it the current one. In one step with the first, a process that has it would seal what another cannot open yet.
  3. $ npx wonrail kek rotate --reason "yearly rotation"
  4. $ npx wonrail kek status        (all seeds under the new one)
  5. Take the old key out of the file, and keep it offline for as long as there is a backup of the database from before step 3: without it
     the seeds in that backup never open again.

Tokens that reached a wallet after it was deactivated:
  $ npx wonrail wallet reopen --org org_0192f0c1a2b37c4d8e5f60718293a4b5 --wallet wal_0192f0c1a2b37c4d8e5f60718293a4b5 \\
      --reason "tokens arrived"
  A second operator approves it. Then it is ACTIVE; its partner moves the money, and deactivates it again.

Calls WALLET_ADDRESS, or else the stack that "npm run up" started.`;

interface World extends CommandWorld<ClientConfig> {
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
  return Object.assign(
    openWorld(() => readClientConfig("wallet")),
    { patienceMs: PATIENCE_MS },
  );
}

export function runAdmin(args: string[], world: World): Promise<ExitCode> {
  return runCommands(createProgram(world), args, world);
}

function createProgram(world: World): Command {
  const program = new Command("wonrail")
    .description("Custody, and wallets that are to be reopened.")
    .addHelpText("after", EXAMPLES);
  const kek = program.command("kek").description("key-encryption keys");
  kek
    .command("status")
    .description("count the seeds under each key, and check that they open with the key file")
    .action(() => showStatus(world));
  kek
    .command("rotate")
    .description("seal every seed under the current key while the service runs")
    .addOption(reasonOption())
    .action(({ reason }: { reason: string }) => rotate(world, reason));
  const wallet = program.command("wallet").description("users' wallets");
  wallet
    .command("reopen")
    .description("propose to make a deactivated wallet ACTIVE again, so that tokens on its address can move")
    .requiredOption("--org <id>", "whose wallet it is", organisationId)
    .requiredOption("--wallet <id>", "the wallet")
    .addOption(reasonOption())
    .action((options: ReopenOptions) => reopen(world, options));
  wallet
    .command("await-reopening")
    .description("wait until the job has done an approved reopening, and show the wallet's status")
    .requiredOption("--org <id>", "whose wallet it is", organisationId)
    .requiredOption("--wallet <id>", "the wallet")
    .action((options: Omit<ReopenOptions, "reason">) => awaitReopening(world, options));
  return program;
}

async function showStatus(world: World): Promise<void> {
  const { out } = world;
  const { currentKekId, checks } = await withWallet(world, (wallet, operator) =>
    wallet.checkSeals({ operator }),
  );
  out(`current key: ${currentKekId}\n`);
  for (const { kekId, seeds, problem } of checks)
    out(
      `  ${kekId}: ${seeds} seeds, ${problem === undefined ? "one was opened" : `NOT OPENED: ${problem}`}\n`,
    );
  if (checks.length === 0) out("  no seeds yet\n");
  const closed = checks.filter(({ problem }) => problem !== undefined);
  if (closed.length > 0)
    throw new Refusal(
      `Wallets under ${closed.map(({ kekId }) => kekId).join(", ")} cannot sign: add that key to the key file again.`,
    );
}

/** The longest time for all seeds. */
const RESEAL_MS = 3_600_000;

async function rotate(world: World, reason: string): Promise<void> {
  const { kekId, resealed, unopenedOrgIds } = await withWallet(
    world,
    (wallet, operator) => wallet.resealSeeds({ operator }, { timeoutMs: RESEAL_MS }),
    reason,
  );
  world.out(`${resealed} seeds are now under ${kekId}.\n`);
  if (unopenedOrgIds.length > 0)
    throw new Refusal(
      `${unopenedOrgIds.length} seeds could not be decrypted and were not changed: ${unopenedOrgIds.join(", ")}. ` +
        "Keep the old key, and restore their rows from a backup.",
    );
}

interface ReopenOptions {
  org: string;
  wallet: string;
  reason: string;
}

async function reopen(world: World, { org: orgId, wallet: walletId, reason }: ReopenOptions): Promise<void> {
  const { proposal } = await withWallet(
    world,
    (wallet, operator) => wallet.reopenWallet({ operator, orgId, walletId: walletIdOf(walletId) }),
    reason,
  );
  printProposal(world, "wallet", proposal!);
}

/** Waits for the job, which reopens the wallet after the approval. */
async function awaitReopening(
  world: World,
  { org: orgId, wallet }: Omit<ReopenOptions, "reason">,
): Promise<void> {
  const walletId = walletIdOf(wallet);
  await withWallet(world, async (wallet, operator) => {
    const look = async () => {
      const { requestId, status } = await wallet.getReopening({ operator, orgId, walletId });
      return requestId === undefined ? { status } : null;
    };
    const waiting = {
      patienceMs: world.patienceMs,
      what: `${walletId} is not reopened`,
      job: "reopen_wallets",
    };
    const { status } = await waitForService(look, waiting);
    world.out(`${walletId} is ${enumName(WalletStatus, status)}. No approved reopening waits.\n`);
  });
}

function walletIdOf(text: string): string {
  if (isId("wal", text)) return text;
  throw new Refusal("--wallet must be a wallet's id: wal_ and 32 hex digits.");
}

type WalletAdmin = PromiseClient<typeof WalletAdminServiceService>;

function withWallet<T>(
  world: World,
  work: (wallet: WalletAdmin, operator: Operator) => Promise<T>,
  reason?: string,
): Promise<T> {
  const operator = operatorMessage(world, reason);
  return withService(world.config, "wallet", WalletAdminServiceService, (wallet) => work(wallet, operator));
}
