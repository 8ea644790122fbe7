import { OPERATOR_NAME, OPERATOR_ROLES, type RoleName } from "@wonrail/kit/admin";
import {
  CouldNotRun,
  type ExitCode,
  openWorld,
  runCommands,
  withDatabase,
  type World as CommandWorld,
} from "@wonrail/kit/command";
import { localHome, readLocalStack, stackFileIn } from "@wonrail/kit/localStack";
import { Command, InvalidArgumentError, Option } from "commander";
import { type LinkConfig, readLinkConfig } from "./config";
import { hashToken, newToken } from "./identity/tokens";
import { insertLink } from "./store/signIns";

type World = CommandWorld<LinkConfig>;

interface Options {
  operator: string;
  role: RoleName[];
}

export function main(args: string[], world: World = openWorld(readLinkConfig)): Promise<ExitCode> {
  const program = new Command("signInLink")
    .description("Prints a link that signs an operator in once, within the next hour.")
    .requiredOption("--operator <name>", "the name in audit trails", operatorName)
    .addOption(
      new Option("--role <role...>", "what the operator may do")
        .choices(OPERATOR_ROLES)
        .makeOptionMandatory(),
    )
    .action(async ({ operator, role }: Options) => {
      const base = publicUrlOf(world.config);
      const token = newToken();
      await withDatabase(world.config, "console", (db) =>
        insertLink(db, hashToken(token)!, { operator, roles: role }),
      );
      world.out(`${new URL(`/auth/link?token=${token}`, base).href}\n`);
    });
  return runCommands(program, args, world);
}

function operatorName(text: string): string {
  if (!OPERATOR_NAME.test(text)) throw new InvalidArgumentError("It must be 1 to 64 printable characters.");
  return text;
}

/** Configuration takes precedence over the local stack. */
function publicUrlOf({ PUBLIC_URL, WONRAIL_HOME }: LinkConfig): string {
  const home = localHome(WONRAIL_HOME);
  const url = PUBLIC_URL ?? readLocalStack(home)?.consoleUrl;
  if (url !== undefined) return url;
  throw new CouldNotRun(
    `The console's address is unknown: ${stackFileIn(home)} names none. Start the stack with npm run up, or set PUBLIC_URL.`,
  );
}
