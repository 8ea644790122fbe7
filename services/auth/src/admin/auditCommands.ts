import { Command } from "commander";
import { bigNumber, jsonOption, limitOption, lines, print, Refusal, table } from "@wonrail/kit/command";
import { withAuth, type World } from "./withAuth";

/** The longest time for a whole audit trail. */
const VERIFY_MS = 3_600_000;

export function auditCommands(world: World): Command {
  return new Command("audit").description("who did what").addCommand(verify(world)).addCommand(list(world));
}

function verify(world: World): Command {
  return new Command("verify")
    .description("verify the hash chain of every audit trail; exits with 1 when one is broken")
    .addOption(jsonOption())
    .action(async ({ json }: { json?: boolean }) => {
      const { problems, organisations, entries } = await withAuth(world, (auth, operator) =>
        auth.verifyAuditTrail({ operator }, { timeoutMs: VERIFY_MS }),
      );
      const counts = { organisations, entries: Number(entries) };
      const rows = problems.map((problem) => ({ ...problem, sequence: problem.sequence.toString() }));
      const found = rows.length === 0 ? [] : ["", ...table(rows, ["orgId", "sequence", "problem"])];
      print(world, json, { ...counts, problems: rows }, [
        ...lines({ ...counts, problems: rows.length }),
        ...found,
      ]);
      if (rows.length > 0) throw new Refusal("The audit trail was tampered with.");
    });
}

function list(world: World): Command {
  return new Command("list")
    .description("the audit trail of an organisation, newest first")
    .requiredOption("--org <code>", "which organisation")
    .option("--before <sequence>", "go on below this sequence", bigNumber)
    .addOption(limitOption())
    .addOption(jsonOption())
    .action(
      async ({
        org,
        before,
        limit,
        json,
      }: {
        org: string;
        before?: bigint;
        limit: number;
        json?: boolean;
      }) => {
        const input = { code: org, limit, beforeSequence: before };
        const { entries } = await withAuth(world, (auth, operator) =>
          auth.listAuditEntries({ operator, ...input }),
        );
        const rows = entries.map((entry) => ({
          sequence: entry.sequence.toString(),
          at: entry.occurredAt!.toISOString(),
          actor: entry.actor,
          action: entry.action,
          subject: entry.subject,
          details: entry.detailsJson,
          requestId: entry.requestId,
          hash: entry.hash.toString("hex"),
        }));
        print(world, json, rows, table(rows, ["sequence", "at", "actor", "action", "subject", "details"]));
      },
    );
}
