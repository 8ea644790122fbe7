import { Command } from "commander";
import {
  openWorld,
  proposalCommands,
  readClientConfig,
  runCommands,
  type ExitCode,
} from "@wonrail/kit/command";
import { auditCommands } from "./admin/auditCommands";
import { deadLetterCommands } from "./admin/deadLetterCommands";
import { keyCommands } from "./admin/keyCommands";
import { organisationCommands } from "./admin/organisationCommands";
import { type World } from "./admin/withAuth";

// The operators' commands. They call the running service (adminRpc.ts).

const EXAMPLES = `
Examples:
  $ npx wonrail org create --name "First Bank" --code FIRST --plan ENTERPRISE --reason "new partner"
  $ npx wonrail org set --code FIRST --subscription-ends 2027-01-01 --reason "contract of May"
  $ npx wonrail key issue --org FIRST --reason "second shop" --json
  $ npx wonrail key revoke --org FIRST --key wk_test_4Fq0aB9xK2Lm --reason "shop closed"
  $ npx wonrail audit verify
  $ npx wonrail dead-letter list --service payment
  $ npx wonrail proposal list

Calls AUTH_ADDRESS, or else the stack that "npm run up" started.`;

export function main(args: string[]): Promise<ExitCode> {
  return runAdmin(
    args,
    openWorld(() => readClientConfig("auth")),
  );
}

/** The commands that `wonrail` lists. */
export function listCommands(): readonly Command[] {
  return createProgram(openWorld(() => readClientConfig("auth"))).commands;
}

export function runAdmin(args: string[], world: World): Promise<ExitCode> {
  return runCommands(createProgram(world), args, world);
}

function createProgram(world: World): Command {
  const program = new Command("wonrail")
    .description(
      "Organisations, their keys, the audit trail, proposals, and events that could not be worked on.",
    )
    .addHelpText("after", EXAMPLES);
  for (const group of [
    organisationCommands,
    keyCommands,
    auditCommands,
    deadLetterCommands,
    proposalCommands,
  ]) {
    program.addCommand(group(world));
  }
  return program;
}
