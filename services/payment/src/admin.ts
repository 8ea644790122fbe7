import { Command, Option } from "commander";
import {
  jsonOption,
  limitOption,
  PATIENCE_MS,
  organisationId,
  print,
  Refusal,
  runCommands,
  table,
  TERMINAL,
  untilDone,
  wholeNumber,
  withDatabase,
  type ExitCode,
  type World as CommandWorld,
} from "@wonrail/kit/command";
import { type Database } from "@wonrail/kit/db";
import { operatorOf } from "@wonrail/kit/operator";
import { beginClosing } from "./commands/closeOperations";
import { readAdminConfig, type AdminConfig } from "./config";
import { type ClosingOutcome, findClosingOutcome } from "./store/closings";
import { listOpenOperations } from "./store/operations";

// The operators' door. It works on the database that the running replicas share; what the ledger has to be asked, they ask.

const EXAMPLES = `
Examples:
  $ npm run admin:payment -- operations list
  $ npm run admin:payment -- operation close chg_0192f0c1a2b37c4d8e5f60718293a4b5 --org org_0192f0c1a2b37c4d8e5f60718293a4b5 --reason "its month left in May"

Works on DATABASE_URL, or else on the stack that "npm run up" started.`;

interface World extends CommandWorld<AdminConfig> {
  /** How long a command waits for what the service has to do. */
  patienceMs: number;
}

const LONGEST_REASON = 500;

export function main(args: string[]): Promise<ExitCode> {
  return runAdmin(args, { config: readAdminConfig(), ...TERMINAL, patienceMs: PATIENCE_MS });
}

export function runAdmin(args: string[], world: World): Promise<ExitCode> {
  const program = new Command("admin:payment")
    .description("Operations whose outcome is open: which they are, and an end for what was never posted.")
    .addHelpText("after", EXAMPLES)
    .addCommand(operations(world))
    .addCommand(operation(world));
  return runCommands(program, args, world);
}

interface ListOptions {
  org?: string;
  olderThan: number;
  limit: number;
  json?: true;
}

function operations(world: World): Command {
  const list = new Command("list")
    .description("those that are open, oldest first; why is in the service's log, job finish_abandoned")
    .addOption(
      new Option("--older-than <seconds>", "since they were taken on").default(30).argParser(wholeNumber),
    )
    .option("--org <id>", "of one organisation", organisationId)
    .addOption(limitOption(50, 10_000))
    .addOption(jsonOption())
    .action(async ({ org, olderThan, limit, json }: ListOptions) => {
      const wanted = { olderThanMs: olderThan * 1_000, orgId: org ?? null, limit };
      const rows = await inPayment(world, (db) => listOpenOperations(db, wanted));
      print(world, json, rows, table(rows));
    });
  return new Command("operations").description("what was taken on").addCommand(list);
}

interface CloseOptions {
  org: string;
  reason: string;
}

function operation(world: World): Command {
  const close = new Command("close")
    .description("for good, when the ledger says that it has never decided it and never will")
    .argument("<id>", "the operation's")
    .requiredOption("--org <id>", "whose it is", organisationId)
    .requiredOption("--reason <text>", "why, for whoever looks later")
    .action((operationId: string, options: CloseOptions) =>
      inPayment(world, (db) => closeOne(db, world, operationId, options)),
    );
  return new Command("operation").description("one of them").addCommand(close);
}

/** The service asks the ledger and does it, with its own name and under its own log; this waits for it. */
async function closeOne(
  db: Database,
  { config, out, patienceMs }: World,
  operationId: string,
  { org: orgId, reason }: CloseOptions,
): Promise<void> {
  if (reason.trim() === "" || reason.length > LONGEST_REASON)
    throw new Refusal(`--reason is a sentence of at most ${LONGEST_REASON} characters.`);
  const state = await beginClosing(db, { orgId, operationId, operator: operatorOf(config), reason });
  if (state === undefined) throw new Refusal(`${orgId} has no operation ${operationId}.`);
  if (state !== "CLAIMED")
    throw new Refusal(`${operationId} is ${state}: only one that is open can be closed.`);

  const outcome = await untilDone(() => findClosingOutcome(db, orgId, operationId), {
    patienceMs,
    what: `${operationId} is not closed`,
    job: "close_operations",
  });
  if (outcome !== "CLOSED") throw new Refusal(`${operationId} ${WHY_NOT[outcome]}`);
  out(
    `${operationId} is closed: nothing was done under it, and nothing will be. Its key is free, if it came with one.\n`,
  );
}

const WHY_NOT: Record<Exclude<ClosingOutcome, "CLOSED">, string> = {
  NOT_OPEN: "is not open any more: it has come to its end meanwhile.",
  JOURNAL: "stays open: the ledger has decided it, and the service writes that down by itself.",
  OPEN: "stays open: the ledger has not decided it and still may, for the service goes on asking it.",
  ARCHIVE:
    "stays open: the ledger has decided it. Its entry has left the journal and is in the table of its month; see docs/runbooks/OperationsAbandoned.md.",
  UNKNOWN:
    "stays open: its month has left the journal, and the month's table is not in the ledger's schema. Bring it back, so that it can be looked into.",
};

function inPayment<T>({ config }: World, work: (db: Database) => Promise<T>): Promise<T> {
  return withDatabase(config, "payment", work);
}
