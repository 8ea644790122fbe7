import { Command } from "commander";
import { openWorld, runCommands, type ExitCode } from "@wonrail/kit/command";
import { childTraceparent, runInContext } from "@wonrail/kit/context";
import { newId } from "@wonrail/kit/contract/ids";
import { auditCommands } from "./admin/auditCommands";
import { deadLetterCommands } from "./admin/deadLetterCommands";
import { keyCommands } from "./admin/keyCommands";
import { organisationCommands } from "./admin/organisationCommands";
import { type World } from "./admin/withAuth";
import { readAdminConfig } from "./config";

// The operators' commands. They use the service's own commands on its database, so the service need
// not run. Gateways and other services learn of the changes in the same way.

const EXAMPLES = `
Examples:
  $ npx wonrail org create --name "First Bank" --code FIRST --plan ENTERPRISE --incentive-bps 100
  $ npx wonrail org set --code FIRST --subscription-ends 2027-01-01
  $ npx wonrail key issue --org FIRST --json
  $ npx wonrail key revoke --org FIRST --key wk_test_4Fq0aB9xK2Lm
  $ npx wonrail audit verify
  $ npx wonrail dead-letter list --service payment

Works on DATABASE_URL, or else on the stack that "npm run up" started.`;

export function main(args: string[]): Promise<ExitCode> {
  return runAdmin(args, openWorld(readAdminConfig));
}

/** The commands that `wonrail` lists. */
export function listCommands(): readonly Command[] {
  return createProgram(openWorld(readAdminConfig)).commands;
}

export function runAdmin(args: string[], world: World): Promise<ExitCode> {
  const context = { requestId: newId("req"), traceparent: childTraceparent() };
  return runInContext(context, () => runCommands(createProgram(world), args, world));
}

function createProgram(world: World): Command {
  const program = new Command("wonrail")
    .description("Organisations, their keys, the audit trail, and events that could not be worked on.")
    .addHelpText("after", EXAMPLES);
  for (const group of [organisationCommands, keyCommands, auditCommands, deadLetterCommands]) {
    program.addCommand(group(world));
  }
  return program;
}
