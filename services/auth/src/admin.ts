import { Command, CommanderError } from "commander";
import { childTraceparent, runInContext } from "@wonrail/kit/context";
import { DomainError, type FieldProblem } from "@wonrail/kit/errors";
import { newId } from "@wonrail/kit/ids";
import { auditCommands } from "./admin/auditCommands";
import { deadLetterCommands } from "./admin/deadLetterCommands";
import { keyCommands } from "./admin/keyCommands";
import { organisationCommands } from "./admin/organisationCommands";
import { Refusal, type World } from "./admin/world";
import { readAdminConfig } from "./config";

// The operators' door: what partners cannot do, as commands. It works on the database with the service's own commands, so the service
// need not run, and what it does reaches the gateways and the other services in the same way.

/** 0: done. 1: refused, or something is wrong. 2: the command line is wrong. Wrong configuration is 78, as everywhere. */
export type ExitCode = 0 | 1 | 2;

const EXAMPLES = `
Examples:
  $ npm run admin -- org create --name "First Bank" --code FIRST --plan ENTERPRISE --incentive-bps 100
  $ npm run admin -- org set --code FIRST --subscription-ends 2027-01-01
  $ npm run --silent admin -- key issue --org FIRST --json    (--silent keeps npm's own lines out of the JSON)
  $ npm run admin -- key revoke --org FIRST --key wk_test_4Fq0aB9xK2Lm
  $ npm run admin -- audit verify
  $ npm run admin -- dead-letter list --service payment

Works on DATABASE_URL, or else on the stack that "npm run up" started.`;

export function main(args: string[]): Promise<ExitCode> {
  const out = (text: string) => void process.stdout.write(text);
  const err = (text: string) => void process.stderr.write(text);
  return runAdmin(args, { config: readAdminConfig(), out, err });
}

export async function runAdmin(args: string[], world: World): Promise<ExitCode> {
  const context = { requestId: newId("req"), traceparent: childTraceparent() };
  try {
    await runInContext(context, () => createProgram(world).parseAsync(args, { from: "user" }));
    return 0;
  } catch (error) {
    if (error instanceof CommanderError) return error.exitCode === 0 ? 0 : 2;
    if (!(error instanceof Refusal) && !(error instanceof DomainError)) throw error;
    world.err(`${explain(error)}\n`);
    return 1;
  }
}

function createProgram(world: World): Command {
  const program = new Command("admin")
    .description("Organisations, their keys, the audit trail, and events that could not be worked on.")
    .addHelpText("after", EXAMPLES);
  for (const group of [organisationCommands, keyCommands, auditCommands, deadLetterCommands]) {
    program.addCommand(group(world));
  }
  return inherit(program, world);
}

/** Commander's settings do not reach commands that were made before them. */
function inherit(command: Command, world: World): Command {
  command
    .exitOverride()
    .configureOutput({ writeOut: world.out, writeErr: world.err })
    .showHelpAfterError("Use --help to see the options.");
  command.commands.forEach((child) => inherit(child, world));
  return command;
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
