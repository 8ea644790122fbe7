import { openDatabase, type Database } from "@wonrail/kit/db";
import { createLog } from "@wonrail/kit/log";
import { Command } from "commander";
import { readAdminConfig } from "./config";
import { verifyAll, type CheckResult } from "./queries/verify";
import type { Counted } from "./store/checks";

const STATEMENT_TIMEOUT_MS = 3_600_000;

interface Output {
  write(line: string): void;
}

/** The operators' way in. Returns the exit code: 1 when an invariant does not hold. */
export async function verify(db: Database, { json }: { json?: boolean }, output: Output): Promise<number> {
  const { results, counted } = await verifyAll(db);
  const found = results.reduce((sum, { violations }) => sum + violations.length, 0);
  if (json) output.write(JSON.stringify({ violations: found, counted, results }, bigintAsNumber));
  else report(results, counted, found, output);
  return found === 0 ? 0 : 1;
}

function report(results: CheckResult[], counted: Counted, found: number, output: Output): void {
  for (const { invariant, says, violations } of results) {
    output.write(`${violations.length === 0 ? "ok  " : "FAIL"}  ${invariant.padEnd(18)} ${says}`);
    for (const { what, details } of violations) output.write(`        ${what}: ${details}`);
  }
  const { organisations, accounts, entries, postings, holds } = counted;
  output.write("");
  output.write(
    `${found} violations in ${organisations} organisations, ${accounts} accounts, ${entries} entries, ${postings} postings, ${holds} holds`,
  );
}

function bigintAsNumber(_key: string, value: unknown): unknown {
  return typeof value === "bigint" ? Number(value) : value;
}

export async function main(argv: string[]): Promise<void> {
  const program = new Command("ledger").description("Looks after the ledger");
  program
    .command("verify")
    .description(
      "Checks every invariant over the whole journal; exits 1 and lists the rows when one does not hold",
    )
    .option("--json", "machine-readable output")
    .action(async (options: { json?: boolean }) => {
      const { DATABASE_URL } = readAdminConfig();
      const log = createLog({ service: "ledger-admin", level: "warn" });
      const db = openDatabase({
        url: DATABASE_URL,
        schema: "ledger",
        applicationName: "ledger admin",
        max: 1,
        statementTimeoutMs: STATEMENT_TIMEOUT_MS,
        log,
      });
      try {
        process.exitCode = await verify(db, options, { write: (line) => process.stdout.write(`${line}\n`) });
      } finally {
        await db.close();
      }
    });
  await program.parseAsync(argv);
}
