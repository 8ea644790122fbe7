// The commands of a restore. They call the admin RPCs of all services, and change nothing by
// themselves.
import {
  type ExitCode,
  jsonOption,
  openWorld,
  print,
  printProposal,
  readClientConfig,
  reasonOption,
  Refusal,
  runCommands,
  time,
} from "@wonrail/kit/command";
import { Command, Option } from "commander";
import { type World, withLedger, withRelayer, withWallet } from "./clients";
import { describePlan, readPlan } from "./plan";
import { describeReverted, listReverted } from "./reverted";
import { describeVerification, verify } from "./verify";

const EXAMPLES = `
In this order, with docs/operate/backup.md:
  $ npx wonrail restore plan --to 2026-11-23T04:00:00Z     (while the old system still answers)
  $ npx wonrail restore plan                               (on the restored databases)
  $ npx wonrail restore reenter --reason "disk lost at 04:12"    (with Kafka, before chain-relayer starts)
  $ npx wonrail restore prepare --reason "disk lost at 04:12"
  $ npx wonrail restore verify
  $ npx wonrail restore resume --reason "all differences explained"

Calls all services: AUTH_ADDRESS and its like, or else the stack that "npm run up" started.`;

export function main(args: string[]): Promise<ExitCode> {
  const world = openWorld(() => readClientConfig());
  return runCommands(createProgram(world), args, world);
}

/** The commands that `wonrail` lists. */
export function listCommands(): readonly Command[] {
  return createProgram(openWorld(() => readClientConfig())).commands;
}

function createProgram(world: World): Command {
  const restore = new Command("restore")
    .description("bring services, Kafka and the chain back into agreement after a restore of the databases")
    .addHelpText("after", EXAMPLES)
    .addCommand(planCommand(world))
    .addCommand(reenterCommand(world))
    .addCommand(prepareCommand(world))
    .addCommand(verifyCommand(world))
    .addCommand(resumeCommand(world));
  return new Command("wonrail").addCommand(restore);
}

function planCommand(world: World): Command {
  return new Command("plan")
    .description("show what a restore reverts, or what differs after it; changes nothing")
    .addOption(
      new Option("--to <time>", "operators' actions and changes of keys since this time").argParser(time),
    )
    .addOption(jsonOption())
    .action(async ({ to, json }: { to?: Date; json?: true }) => {
      if (to) {
        const reverted = await listReverted(world, to);
        return print(world, json, reverted, describeReverted(reverted));
      }
      const plan = await readPlan(world);
      print(world, json, plan, describePlan(plan));
    });
}

/** Reading a topic and posting its entries may take as long. */
const REENTER_MS = 3_600_000;

function reenterCommand(world: World): Command {
  return new Command("reenter")
    .description("enter wallets and entries again that only Kafka has; before chain-relayer starts")
    .addOption(reasonOption())
    .addOption(jsonOption())
    .action(async ({ reason, json }: { reason: string; json?: true }) => {
      const options = { timeoutMs: REENTER_MS };
      // First the wallets: their keys sign for the entries.
      const wallets = await withWallet(
        world,
        (wallet, operator) => wallet.reenterLostWallets({ operator }, options),
        reason,
      );
      const entries = await withLedger(
        world,
        (ledger, operator) => ledger.reenterLostEntries({ operator }, options),
        reason,
      );
      const problems = [...wallets.problems, ...entries.problems];
      print(world, json, { wallets, entries }, [
        `${wallets.wallets} wallets and ${entries.entries} entries were entered again.`,
        ...problems,
      ]);
      if (problems.length > 0) throw new Refusal("Some wallets or entries stay lost.");
    });
}

function prepareCommand(world: World): Command {
  return new Command("prepare")
    .description("pause settlement of all organisations, and leave out key indexes that may be in use")
    .addOption(reasonOption())
    .addOption(jsonOption())
    .action(async ({ reason, json }: { reason: string; json?: true }) => {
      const prepared = await withRelayer(
        world,
        (relayer, operator) => relayer.prepareRestore({ operator }),
        reason,
      );
      const { organisations } = await withWallet(
        world,
        (wallet, operator) => wallet.skipKeyIndexes({ operator }),
        reason,
      );
      const { restoreId, finalBlock } = prepared.restore!;
      print(world, json, { ...prepared, organisations }, [
        `Restore ${restoreId} is under way. ${prepared.pausedQueues} queues are paused.`,
        `${organisations} organisations go on with new key indexes.`,
        `Next: npx wonrail restore verify, until the books are compared up to block ${finalBlock}.`,
      ]);
    });
}

function verifyCommand(world: World): Command {
  return new Command("verify")
    .description("list every difference between ledger, chain and feeds; exits with 1 when there is one")
    .addOption(jsonOption())
    .action(async ({ json }: { json?: true }) => {
      const verification = await verify(world);
      print(world, json, verification, describeVerification(verification));
      if (verification.problems.length > 0) throw new Refusal("The restore cannot end yet.");
    });
}

function resumeCommand(world: World): Command {
  return new Command("resume")
    .description("propose to end the restore; refused while a difference is unexplained")
    .addOption(reasonOption())
    .action(async ({ reason }: { reason: string }) => {
      const { problems } = await verify(world);
      if (problems.length > 0) throw new Refusal(problems.join("\n"));
      const { proposal } = await withRelayer(
        world,
        (relayer, operator) => relayer.resumeAfterRestore({ operator }),
        reason,
      );
      printProposal(world, "chain-relayer", proposal!);
    });
}
