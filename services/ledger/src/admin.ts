import {
  jsonOption,
  openWorld,
  Refusal,
  runCommands,
  withDatabase,
  type ExitCode,
  type World,
} from "@wonrail/kit/command";
import { Command } from "commander";
import { readAdminConfig, type AdminConfig } from "./config";
import { verifyAll, type CheckResult } from "./queries/verify";
import type { Counted } from "./store/checks";

const STATEMENT_TIMEOUT_MS = 3_600_000;

/** The operators' commands. */
export function main(args: string[]): Promise<ExitCode> {
  return runAdmin(args, openWorld(readAdminConfig));
}

/** The commands that `wonrail` lists. */
export function listCommands(): readonly Command[] {
  return createProgram(openWorld(readAdminConfig)).commands;
}

export function runAdmin(args: string[], world: World<AdminConfig>): Promise<ExitCode> {
  return runCommands(createProgram(world), args, world);
}

function createProgram(world: World<AdminConfig>): Command {
  const program = new Command("wonrail").description("The ledger's journal.");
  program
    .command("verify")
    .description("check every invariant over the whole journal; exits with 1 when one does not hold")
    .addOption(jsonOption())
    .action((options: { json?: boolean }) => verify(world, options));
  return program;
}

async function verify({ config, out }: World<AdminConfig>, { json }: { json?: boolean }): Promise<void> {
  const timeout = { statementTimeoutMs: STATEMENT_TIMEOUT_MS };
  const { results, counted } = await withDatabase(config, "ledger", (db) => verifyAll(db), timeout);
  const found = results.reduce((sum, { violations }) => sum + violations.length, 0);
  const written = json
    ? [JSON.stringify({ violations: found, counted, results }, bigintAsNumber)]
    : report(results, counted, found);
  out(written.map((line) => `${line}\n`).join(""));
  if (found > 0) throw new Refusal(`${found} violations: the report lists their rows.`);
}

function report(results: CheckResult[], counted: Counted, found: number): string[] {
  const { organisations, accounts, entries, unidentified, postings, holds } = counted;
  return [
    ...results.flatMap(({ invariant, says, violations }) => [
      `${violations.length === 0 ? "ok  " : "FAIL"}  ${invariant.padEnd(18)} ${says}`,
      ...violations.map(({ what, details }) => `        ${what}: ${details}`),
    ]),
    "",
    `${found} violations in ${organisations} organisations, ${accounts} accounts, ${entries} entries, ${postings} postings, ${holds} holds`,
    ...(unidentified > 0n ? [`${unidentified} entries were posted by callers without certificates`] : []),
  ];
}

function bigintAsNumber(_key: string, value: unknown): unknown {
  return typeof value === "bigint" ? Number(value) : value;
}
