import { runCommands, TERMINAL, withDatabase, type ExitCode, type World } from "@wonrail/kit/command";
import { Command } from "commander";
import { readAdminConfig, type AdminConfig } from "./config";
import { verifyAll, type CheckResult } from "./queries/verify";
import type { Counted } from "./store/checks";

const STATEMENT_TIMEOUT_MS = 3_600_000;

/** The operators' way in. */
export function main(args: string[]): Promise<ExitCode> {
  return runAdmin(args, { config: readAdminConfig(), ...TERMINAL });
}

export async function runAdmin(args: string[], world: World<AdminConfig>): Promise<ExitCode> {
  let found = 0;
  const program = new Command("ledger verify")
    .description(
      "Checks every invariant over the whole journal; exits 1 and lists the rows when one does not hold",
    )
    .option("--json", "machine-readable output")
    .action(async (options: { json?: boolean }) => {
      found = await verify(world, options);
    });
  const code = await runCommands(program, args, world);
  return code === 0 && found > 0 ? 1 : code;
}

async function verify({ config, out }: World<AdminConfig>, { json }: { json?: boolean }): Promise<number> {
  const timeout = { statementTimeoutMs: STATEMENT_TIMEOUT_MS };
  const { results, counted } = await withDatabase(config, "ledger", (db) => verifyAll(db), timeout);
  const found = results.reduce((sum, { violations }) => sum + violations.length, 0);
  const written = json
    ? [JSON.stringify({ violations: found, counted, results }, bigintAsNumber)]
    : report(results, counted, found);
  out(written.map((line) => `${line}\n`).join(""));
  return found;
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
