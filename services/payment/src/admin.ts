import { setTimeout as sleep } from "node:timers/promises";
import {
  jsonOption,
  openWorld,
  print,
  runCommands,
  withDatabase,
  type ExitCode,
  type World as CommandWorld,
} from "@wonrail/kit/command";
import { operatorOf } from "@wonrail/kit/operator";
import { Command } from "commander";
import { readAdminConfig, type AdminConfig } from "./config";
import { beginRebuild, readRebuild } from "./store/rebuilds";

// The operators' commands. They write a request into payment's database, and the running service carries it out.

const EXAMPLES = `
Examples:
  $ npx wonrail rebuild
  $ npx wonrail rebuild --json

Uses DATABASE_URL, or else the stack that "npm run up" started.`;

export interface World extends CommandWorld<AdminConfig> {
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
  return Object.assign(openWorld(readAdminConfig), { lookEveryMs: 1_000 });
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
    .addOption(jsonOption())
    .action(({ json }: { json?: true }) => rebuildAll(world, json));
}

async function rebuildAll({ config, out, lookEveryMs }: World, json: true | undefined): Promise<void> {
  await withDatabase(config, "payment", async (db) => {
    const id = await beginRebuild(db, operatorOf(config));
    for (let printed = ""; ; await sleep(lookEveryMs)) {
      const { organisations, entries, settlements, isFinished } = await readRebuild(db, id);
      const progress = `${organisations} organisations done, ${entries} entries replayed, ${settlements} settlements read`;
      if (isFinished) {
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
