import { CommanderError, type Command } from "commander";
import { DomainError, isOutage, type FieldProblem } from "../contract/errors";

/**
 * 0: done. 1: refused, or a check failed. 2: the command line is wrong, or the command could not
 * run, so its result is unknown. Wrong configuration is 78, as everywhere.
 */
export type ExitCode = 0 | 1 | 2;

export interface Terminal {
  out: (text: string) => void;
  err: (text: string) => void;
}

/** The commands' view of their environment. */
export interface World<Config> extends Terminal {
  config: Config;
  /** The option --operator. Absent: the account that runs the command. */
  operator?: string;
}

/** The world of a program. Only a command that runs reads its configuration, so help needs none. */
export function openWorld<Config>(readConfig: () => Config): World<Config> {
  return {
    ...TERMINAL,
    get config() {
      return readConfig();
    },
  };
}

export const TERMINAL: Terminal = {
  out: (text) => void process.stdout.write(text),
  err: (text) => void process.stderr.write(text),
};

/** A problem that the operator must fix, with a sentence that names it. */
export class Refusal extends Error {
  override readonly name: string = "Refusal";
}

/** A refusal before the command could even look. */
export class CouldNotRun extends Refusal {
  override readonly name = "CouldNotRun";
}

/** A command with --reason has --operator too, which sets the world's operator. */
export function runCommands(
  program: Command,
  args: string[],
  world: Terminal & { operator?: string },
): Promise<ExitCode> {
  return exitCodeOf(world, () => inherit(program, world).parseAsync(args, { from: "user" }));
}

/**
 * Rethrows unexpected errors: with its stack such a command exits as unable to run
 * (bin/runBuilt.mjs).
 */
export async function exitCodeOf({ err }: Terminal, work: () => Promise<unknown>): Promise<ExitCode> {
  try {
    await work();
    return 0;
  } catch (error) {
    if (error instanceof CommanderError) return error.exitCode === 0 ? 0 : 2;
    if (!(error instanceof Refusal) && !(error instanceof DomainError)) throw error;
    err(`${explain(error)}\n`);
    return error instanceof CouldNotRun || isOutage(error) ? 2 : 1;
  }
}

/** Commander's settings do not reach subcommands that exist already, so each gets them. */
function inherit(command: Command, world: Terminal & { operator?: string }): Command {
  const { out, err } = world;
  if (command.options.some(({ long }) => long === "--reason")) nameOperator(command, world);
  refuseRepeatedOptions(command);
  command
    .exitOverride()
    .configureOutput({ writeOut: out, writeErr: err })
    .showHelpAfterError("Use --help to see the options.");
  command.commands.forEach((child) => inherit(child, world));
  return command;
}

function nameOperator(command: Command, world: { operator?: string }): void {
  command
    .option("--operator <name>", "who does it, for the audit trail; default: the account")
    .on("option:operator", (name: string) => void (world.operator = name));
}

/** Commander keeps the last value of a repeated option. An operator who states two values made a mistake. */
function refuseRepeatedOptions(command: Command): void {
  for (const option of command.options) {
    if (option.variadic) continue;
    let isGiven = false;
    command.on(`option:${option.name()}`, () => {
      if (isGiven) command.error(`error: option '${option.flags}' is given more than once`);
      isGiven = true;
    });
  }
}

/** A refusal in the words of the command line: fields are named as their options. */
function explain(error: Refusal | DomainError): string {
  if (error instanceof Refusal || error.code !== "REQ_001") return error.message;
  const fields = (error.details?.fields ?? []) as unknown as FieldProblem[];
  return fields.map(({ path, message }) => `${optionName(path)}: ${message}`).join("\n");
}

function optionName(path: string): string {
  return path.replace(/[A-Z]/g, (letter) => `-${letter.toLowerCase()}`);
}
