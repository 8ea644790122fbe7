import {
  jsonOption,
  limitOption,
  openWorld,
  operatorMessage,
  organisationId,
  print,
  printProposal,
  reasonOption,
  Refusal,
  runCommands,
  table,
  withDatabase,
  withService,
  type ExitCode,
  type World,
} from "@wonrail/kit/command";
import { enumName, type PromiseClient } from "@wonrail/kit/grpc/client";
import { type Operator } from "@wonrail/proto/common/v1/common";
import { LedgerAdminServiceService } from "@wonrail/proto/ledger/v1/admin";
import { Freeze } from "@wonrail/proto/ledger/v1/intents";
import { Command, Option } from "commander";
import { readAdminConfig, type AdminConfig } from "./config";
import { verifyAll, type CheckResult } from "./queries/verify";
import type { Counted } from "./store/checks";

const STATEMENT_TIMEOUT_MS = 3_600_000;

const EXAMPLES = `
Examples:
  $ npx wonrail freeze list
  $ npx wonrail freeze set wal_0192f0c1a2b37c4d8e5f60718293a4b5 --org org_0192f0c1a2b37c4d8e5f60718293a4b5 \\
      --movements outgoing --reason "police report 4711"
  $ npx wonrail freeze end wal_0192f0c1a2b37c4d8e5f60718293a4b5 --org org_0192f0c1a2b37c4d8e5f60718293a4b5 \\
      --reason "report withdrawn"
  $ npx wonrail verify

freeze calls LEDGER_ADDRESS, or else the stack that "npm run up" started.`;

/** The operators' commands. */
export function main(args: string[]): Promise<ExitCode> {
  return runAdmin(args, openWorld(readAdminConfig));
}

/** The commands that `wonrail` lists. */
export function listCommands(): readonly Command[] {
  return createProgram(openWorld(readAdminConfig)).commands;
}

export function runAdmin(args: string[], world: World<AdminConfig>): Promise<ExitCode> {
  return runCommands(createProgram(world), args, world);
}

function createProgram(world: World<AdminConfig>): Command {
  const program = new Command("wonrail")
    .description("The ledger's journal, and freezes of wallets.")
    .addHelpText("after", EXAMPLES)
    .addCommand(freeze(world));
  program
    .command("verify")
    .description("check every invariant over the whole journal; exits with 1 when one does not hold")
    .addOption(jsonOption())
    .action((options: { json?: boolean }) => verify(world, options));
  return program;
}

function freeze(world: World<AdminConfig>): Command {
  return new Command("freeze")
    .description("wallets that refuse movements with WAL_005")
    .addCommand(listFrozen(world))
    .addCommand(freezeWallet(world))
    .addCommand(endFreeze(world));
}

interface FrozenOptions {
  org?: string;
  limit: number;
  json?: true;
}

function listFrozen(world: World<AdminConfig>): Command {
  return new Command("list")
    .description("frozen wallets, with the freeze by the token's blocklist and the freeze by operators")
    .option("--org <id>", "of one organisation", organisationId)
    .addOption(limitOption())
    .addOption(jsonOption())
    .action(async ({ org, limit, json }: FrozenOptions) => {
      const { wallets } = await withLedger(world, (ledger, operator) =>
        ledger.listFrozenWallets({
          operator,
          orgId: org,
          limit,
          walletId: undefined,
          afterWalletId: undefined,
        }),
      );
      const rows = wallets.map(({ byChain, byOperator, ...key }) => ({
        ...key,
        byChain: enumName(Freeze, byChain),
        byOperator: enumName(Freeze, byOperator),
      }));
      print(world, json, rows, table(rows));
    });
}

interface FreezeOptions {
  org: string;
  reason: string;
}

function freezeWallet(world: World<AdminConfig>): Command {
  return new Command("set")
    .description("refuse a wallet's outgoing movements, or all, at once; deposits are still credited")
    .argument("<wallet>", "its id")
    .requiredOption("--org <id>", "whose wallet it is", organisationId)
    .addOption(
      new Option("--movements <which>", "which are refused")
        .choices(["outgoing", "all"])
        .makeOptionMandatory(),
    )
    .addOption(reasonOption())
    .action(async (walletId: string, options: FreezeOptions & { movements: "outgoing" | "all" }) => {
      const { org: orgId, movements, reason } = options;
      const wanted = Freeze[movements.toUpperCase() as Uppercase<typeof movements>];
      const { wallet } = await withLedger(
        world,
        (ledger, operator) => ledger.freezeWallet({ operator, orgId, walletId, freeze: wanted }),
        reason,
      );
      world.out(`${walletId} is frozen: ${enumName(Freeze, wallet!.byOperator)}.\n`);
    });
}

function endFreeze(world: World<AdminConfig>): Command {
  return new Command("end")
    .description("propose to end the operators' freeze of a wallet; a freeze by the chain stays")
    .argument("<wallet>", "its id")
    .requiredOption("--org <id>", "whose wallet it is", organisationId)
    .option("--keep-outgoing", "keep outgoing movements frozen")
    .addOption(reasonOption())
    .action(async (walletId: string, options: FreezeOptions & { keepOutgoing?: true }) => {
      const { org: orgId, keepOutgoing, reason } = options;
      const remaining = keepOutgoing ? Freeze.OUTGOING : Freeze.NONE;
      const { proposal } = await withLedger(
        world,
        (ledger, operator) => ledger.unfreezeWallet({ operator, orgId, walletId, remaining }),
        reason,
      );
      printProposal(world, "ledger", proposal!);
    });
}

function withLedger<T>(
  world: World<AdminConfig>,
  work: (ledger: PromiseClient<typeof LedgerAdminServiceService>, operator: Operator) => Promise<T>,
  reason?: string,
): Promise<T> {
  const operator = operatorMessage(world, reason);
  return withService(world.config, "ledger", LedgerAdminServiceService, (ledger) => work(ledger, operator));
}

async function verify({ config, out }: World<AdminConfig>, { json }: { json?: boolean }): Promise<void> {
  const timeout = { statementTimeoutMs: STATEMENT_TIMEOUT_MS };
  const { results, counted } = await withDatabase(config, "ledger", (db) => verifyAll(db), timeout);
  const found = results.reduce((sum, { violations }) => sum + violations.length, 0);
  const written = json
    ? [JSON.stringify({ violations: found, counted, results }, bigintAsNumber)]
    : report(results, counted, found);
  out(written.map((line) => `${line}\n`).join(""));
  if (found > 0) throw new Refusal(`${found} violations: the report lists their rows.`);
}

function report(results: CheckResult[], counted: Counted, found: number): string[] {
  const { organisations, accounts, entries, unidentified, postings, holds } = counted;
  return [
    ...results.flatMap(({ invariant, says, violations }) => [
      `${violations.length === 0 ? "ok  " : "FAIL"}  ${invariant.padEnd(18)} ${says}`,
      ...violations.map(({ what, details }) => `        ${what}: ${details}`),
    ]),
    "",
    `${found} violations in ${organisations} organisations, ${accounts} accounts, ${entries} entries, ${postings} postings, ${holds} holds`,
    ...(unidentified > 0n ? [`${unidentified} entries were posted by callers without certificates`] : []),
  ];
}

function bigintAsNumber(_key: string, value: unknown): unknown {
  return typeof value === "bigint" ? Number(value) : value;
}
