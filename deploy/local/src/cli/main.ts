import * as auth from "@wonrail/auth/admin";
import * as chainRelayer from "@wonrail/chain-relayer/admin";
import * as events from "@wonrail/events/admin";
import { runCommands, TERMINAL, type ExitCode, type Terminal } from "@wonrail/kit/command";
import * as ledger from "@wonrail/ledger/admin";
import * as payment from "@wonrail/payment/admin";
import * as wallet from "@wonrail/wallet/admin";
import { Command } from "commander";
import { LOCAL_COMMANDS } from "./localCommands";
import * as restore from "./restore";

/** A program of operators' commands: of one service, or of a subject that concerns all of them. */
interface Owner {
  service: string;
  subject: string;
  listCommands: () => readonly Command[];
  main: (args: string[]) => Promise<ExitCode>;
}

/** No two owners have a command of the same name. */
export const OWNERS: readonly Owner[] = [
  { service: "auth", subject: "Organisations and events", ...auth },
  { service: "chain-relayer", subject: "Settlement", ...chainRelayer },
  { service: "wallet", subject: "Wallets and custody", ...wallet },
  { service: "payment", subject: "Payment records", ...payment },
  { service: "events", subject: "Webhooks", ...events },
  { service: "ledger", subject: "Ledger", ...ledger },
  { service: "all", subject: "Restore", ...restore },
];

/** Hands an operators' command to its service's program. bin/wonrail.mjs runs the local commands. */
export function main(args: string[], terminal: Terminal = TERMINAL, owners = OWNERS): Promise<ExitCode> {
  const owner = owners.find(({ listCommands }) =>
    listCommands().some((command) => command.name() === args[0]),
  );
  return owner === undefined ? runCommands(createIndex(owners), args, terminal) : owner.main(args);
}

/** Prints the list of all commands, or suggests the nearest to an unknown name. */
function createIndex(owners: readonly Owner[]): Command {
  const index = new Command("wonrail").helpCommand(false).configureHelp({ formatHelp: () => helpOf(owners) });
  const names = owners.flatMap(({ listCommands }) => listCommands().map((command) => command.name()));
  for (const name of [...names, ...LOCAL_COMMANDS.map((command) => command.name)]) index.command(name);
  return index;
}

function helpOf(owners: readonly Owner[]): string {
  const ofServices = owners.map(({ subject, listCommands }) => ({
    subject,
    rows: listCommands().flatMap((command) => findLeaves(command)),
  }));
  const subjects = [...ofServices, { subject: "Local stack", rows: LOCAL_COMMANDS }];
  const width = Math.max(...subjects.flatMap(({ rows }) => rows.map(({ name }) => name.length)));
  const blocks = subjects.map(({ subject, rows }) => {
    const lines = rows.map(({ name, summary }) => `  ${name.padEnd(width)}  ${summary}\n`);
    return `${subject}\n${lines.join("")}`;
  });
  return ["Usage: npx wonrail COMMAND [options]\n", ...blocks, HINT].join("\n");
}

const HINT = `npx wonrail COMMAND --help shows the options of a command.
The commands work on the running local stack, or on the service that AUTH_ADDRESS and its like name.
Exit codes: 0 done, 1 refused or a check failed, 2 wrong command line, 78 wrong configuration.
`;

/** A command without subcommands. */
export interface Leaf {
  /** With the names of its groups. */
  name: string;
  summary: string;
  command: Command;
}

export function findLeaves(command: Command, group = ""): Leaf[] {
  const name = `${group}${command.name()}`;
  if (command.commands.length > 0) return command.commands.flatMap((child) => findLeaves(child, `${name} `));
  return [{ name, summary: command.summary() || command.description(), command }];
}
