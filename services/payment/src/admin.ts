import { setTimeout as sleep } from "node:timers/promises";
import {
  type ClientConfig,
  jsonOption,
  openWorld,
  operatorMessage,
  print,
  readClientConfig,
  reasonOption,
  runCommands,
  withService,
  type ExitCode,
  type World as CommandWorld,
} from "@wonrail/kit/command";
import { PaymentAdminServiceService } from "@wonrail/proto/payment/v1/admin";
import { Command } from "commander";

// The operators' commands. They call the running service (adminRpc.ts).

const EXAMPLES = `
Examples:
  $ npx wonrail rebuild --reason "a forged settlement"

Calls PAYMENT_ADDRESS, or else the stack that "npm run up" started.`;

export interface World extends CommandWorld<ClientConfig> {
  /** How often the command reads the progress of a rebuild. */
  lookEveryMs: number;
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
    openWorld(() => readClientConfig("payment")),
    { lookEveryMs: 1_000 },
  );
}

export function runAdmin(args: string[], world: World): Promise<ExitCode> {
  return runCommands(createProgram(world), args, world);
}

function createProgram(world: World): Command {
  return new Command("wonrail")
    .description("Commands for the payment service's records.")
    .addHelpText("after", EXAMPLES)
    .addCommand(rebuild(world));
}

function rebuild(world: World): Command {
  return new Command("rebuild")
    .summary("rewrite all payment records from the ledger's journal while the service runs")
    .description(
      "Rewrites the records of all organisations from the ledger's journal, and their settlements from " +
        "chain-relayer, while the service runs. Prints the progress until the end. Stopping the command " +
        "does not stop the rebuild.",
    )
    .addOption(reasonOption())
    .addOption(jsonOption())
    .action((options: RebuildOptions) => rebuildAll(world, options));
}

interface RebuildOptions {
  reason: string;
  json?: true;
}

async function rebuildAll(world: World, { reason, json }: RebuildOptions): Promise<void> {
  const { config, out, lookEveryMs } = world;
  await withService(config, "payment", PaymentAdminServiceService, async (payment) => {
    const { rebuildId } = await payment.beginRebuild({ operator: operatorMessage(world, reason) });
    const request = { operator: operatorMessage(world), rebuildId };
    for (let printed = ""; ; await sleep(lookEveryMs)) {
      const { organisations, entries, settlements, finished } = await payment.getRebuild(request);
      const progress = `${organisations} organisations done, ${entries} entries replayed, ${settlements} settlements read`;
      if (finished) {
        const result = {
          organisations: Number(organisations),
          entries: Number(entries),
          settlements: Number(settlements),
        };
        print({ out }, json, result, [`Rebuilt: ${progress}.`]);
        return;
      }
      if (!json && progress !== printed) out(`${progress}\n`);
      printed = progress;
    }
  });
}
