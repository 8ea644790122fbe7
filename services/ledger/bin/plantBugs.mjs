#!/usr/bin/env node
// npm run ledger:bugs: plants one bug at a time in a copy of the ledger's source and shows the
// test that finds it. Exits with 1 when a bug survives. The copy is in an ignored folder of the
// repository and uses the same node_modules; the original stays untouched.
import { spawnSync } from "node:child_process";
import { cpSync, existsSync, mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { plantChanges } from "@wonrail/kit/testing/plantChanges";

const SERVICE = fileURLToPath(new URL("..", import.meta.url));
const ROOT = join(SERVICE, "../..");
const JEST = join(ROOT, "node_modules/jest/bin/jest.js");

/** Name, file, source text, text with the bug, and the kind of test that must find the bug. */
const BUGS = [
  [
    "skip the balance check of a transfer",
    "intents/transfer/transfer.ts",
    'requireAvailable(from, amountWon, "TRF_001");',
    "",
    "unit",
  ],
  [
    "forget the held part of a balance",
    "domain/book.ts",
    "return won(account.balanceWon - account.heldWon);",
    "return account.balanceWon;",
    "unit",
  ],
  [
    "round the accrual up",
    "intents/payment/payment.ts",
    "basisPointsOf(normalWon, rateBps)",
    "won(basisPointsOf(normalWon, rateBps) + 1n)",
    "unit",
  ],
  [
    "accrue on the whole payment",
    "intents/payment/payment.ts",
    "accrualOf(split.normalWon,",
    "accrualOf(amountWon,",
    "unit",
  ],
  [
    "drop the check of a known request id",
    "intents/decide.ts",
    "if (!first) return undefined;",
    "if (first !== null) return undefined;",
    "unit",
  ],
  [
    "answer another content under a known id",
    "intents/decide.ts",
    "first.contentHash === request.contentHash ? first.outcome : REUSED",
    "first.outcome",
    "unit",
  ],
  [
    "let a payment be cancelled twice",
    "intents/cancelPayment/cancelPayment.ts",
    "book.cancelledPayments.add(key);",
    "",
    "unit",
  ],
  [
    "let the parts of a charge exceed it",
    "intents/cancelCharge/cancelCharge.ts",
    "if (amountWon > remainingWon)",
    "if (amountWon > posting.amountWon)",
    "unit",
  ],
  [
    "let the refunds of a payment exceed it",
    "intents/refundPayment/refundPayment.ts",
    "if (amountWon > remainingWon)",
    "if (amountWon > paidWon)",
    "unit",
  ],
  [
    "cancel a payment that is refunded in part",
    "intents/cancelPayment/cancelPayment.ts",
    "if (book.refundedPayments.has(key))",
    "if (book.cancelledPayments.has(key))",
    "unit",
  ],
  [
    "claw back each part of an accrual by itself",
    "intents/refundPayment/partOfPayment.ts",
    "incentiveAccruedWon: won(after.incentiveAccruedWon - before.incentiveAccruedWon),",
    "incentiveAccruedWon: returnedUpTo(made, amountWon).incentiveAccruedWon,",
    "unit",
  ],
  [
    "take the daily limit by the day of Greenwich",
    "domain/limits.ts",
    "const SEOUL_OFFSET_MS = 9 * 3_600_000;",
    "const SEOUL_OFFSET_MS = 0;",
    "unit",
  ],
  [
    "never give the limit of a voided hold back",
    "intents/voidHold/voidHold.ts",
    "giveBackToLimit(wallet, hold.limitDay, hold.amountWon);",
    "",
    "unit",
  ],
  [
    "pay from a closed wallet",
    "domain/book.ts",
    'return account.closedAtMs === null && freezeOf(account) === "NONE";',
    'return freezeOf(account) === "NONE";',
    "unit",
  ],
  [
    "credit a log of the chain again",
    "intents/decide.ts",
    "if (key === undefined) return undefined;",
    'if (key !== "") return undefined;',
    "unit",
  ],
  [
    "number the postings with a gap",
    "domain/book.ts",
    "account.sequence += 1n;",
    "account.sequence += 2n;",
    "unit",
  ],
  [
    "keep the day's limit across days",
    "domain/limits.ts",
    "return account.limitDay === day ? account.limitUsedWon : ZERO_WON;",
    "return account.limitUsedWon;",
    "unit",
  ],
  ["lock nothing", "store/accounts.ts", "order by number for no key update", "order by number", "int"],
  [
    "lock in any order",
    "store/accounts.ts",
    "order by number for no key update",
    "order by random() for no key update",
    "int",
  ],
  [
    "look for known requests before the locks",
    "store/state.ts",
    "const locked = lockAccounts(tx, facts);",
    "const early = await findKnown(tx, requests); const locked = lockAccounts(tx, facts);",
    "int",
    [["    findKnown(tx, requests),", "    early,"]],
  ],
  [
    "answer before the commit",
    "commands/postBatch.ts",
    "await appendEvents(tx, eventsOf(decision.changes, origins));",
    'await appendEvents(tx, eventsOf(decision.changes, origins)); if (decision.changes.touched.size === 2) throw new Error("lost after the answer");',
    "int",
    [
      ["const decision = await tx(", "let early: Decision | undefined; const decision = await tx("],
      ["const decision = decide({ ...state", "const decision = early = decide({ ...state"],
      ["      return decision;\n    });", "      return decision;\n    }).catch(() => early!);"],
    ],
  ],
  [
    "lose the event of a batch's first entry",
    "events.ts",
    "const posted = changes.answered.flatMap(",
    "const posted = changes.answered.slice(1).flatMap(",
    "int",
  ],
  [
    "let one bad item fail its neighbours",
    "commands/engine.ts",
    "if (items.length > 1 && !concernsAll(error))",
    "if (items.length > 1_000_000)",
    "int",
  ],
  [
    "lose the type of a block",
    "domain/book.ts",
    "account.blockTypes |= typeBit(type);",
    "account.blockTypes = typeBit(type);",
    "unit",
  ],
  ["take another organisation's wallet", "domain/book.ts", "account.orgId !== orgId || ", "", "unit"],
  [
    "void a hold that was posted",
    "domain/holds.ts",
    'if (hold.state !== "open")',
    'if (hold.state === "voided")',
    "unit",
  ],
  [
    "claw the accrual back from a closed wallet",
    "domain/paymentMoves.ts",
    "if (!incentive || !canPay(incentive)) return ZERO_WON;",
    "if (!incentive) return ZERO_WON;",
    "unit",
  ],
  [
    "say of a commit without an answer that nothing was done",
    "commands/engine.ts",
    "const reported = unsure ? asOutcomeUnknown(error) : error;",
    "const reported = error;",
    "int",
  ],
  [
    "forget the idempotency keys of a batch",
    "store/changes.ts",
    "if (keyed.length > 0) insertKeys(tx, keyed, nowMs);",
    "",
    "int",
  ],
  [
    "replay another body under a key",
    "intents/decide.ts",
    "first && used.bodyHash === key.bodyHash ? first.outcome : REUSED",
    "first?.outcome ?? REUSED",
    "unit",
  ],
  [
    "number the entries of an organisation without a lock",
    "store/journalHeads.ts",
    "where org_id = any(${uuidArray([...orgIds])}::uuid[]) order by org_id for no key update",
    "where org_id = any(${uuidArray([...orgIds])}::uuid[]) order by org_id",
    "int",
  ],
  [
    "number the entries of an organisation with a gap",
    "domain/book.ts",
    "book.heads.set(orgId, last + 1n);",
    "book.heads.set(orgId, last + 2n);",
    "int",
  ],
  ["let a frozen wallet pay", "domain/book.ts", "if (!canPay(account)) throw frozen(account);", "", "unit"],
  [
    "never give the charge limit back",
    "intents/cancelCharge/cancelCharge.ts",
    "giveBackToLimit(issuance, seoulDay(chargedMs), amountWon);",
    "",
    "unit",
  ],
];

// Fast tests first. Replicas as separate processes are left to the normal run: they take long, and
// these bugs do not need them.
const TESTS = {
  unit: [
    "intents/rules.test.ts",
    "intents/refusals.test.ts",
    "intents/refundPayment/refundPayment.test.ts",
    "intents/decide.test.ts",
  ],
  int: [
    "commands/engine.int.test.ts",
    "commands/poison.int.test.ts",
    "events.int.test.ts",
    "commands/unknownCommits.int.test.ts",
    "commands/keys.int.test.ts",
    "commands/journalOrder.int.test.ts",
  ],
};

const only = process.argv[2];
const bugs = BUGS.filter(([what]) => only === undefined || what.includes(only));
if (bugs.length === 0) throw new Error(`no bug is called ${only}`);
mkdirSync(join(ROOT, "coverage"), { recursive: true });
const copy = mkdtempSync(join(ROOT, "coverage/ledger-bugs-"));
const rows = [];
process.on("exit", () => rmSync(copy, { recursive: true, force: true }));
process.on("SIGINT", () => process.exit(130));
// A test that fails without a bug, or does not run, would seem to find every bug.
for (const kind of new Set(bugs.map(([, , , , kind]) => kind))) {
  copySource();
  const failed = firstFailureOf(kind);
  if (failed !== undefined) throw new Error(`without a bug fails: ${failed}`);
}
for (const [what, file, text, bug, kind, more = []] of bugs) {
  const found = tryBug(file, [[text, bug], ...more], kind);
  rows.push(`| ${what} | ${file} | ${found ?? "NOT FOUND"} |`);
  process.stdout.write(`${rows.at(-1)}\n`);
}
process.exit(rows.some((row) => row.includes("NOT FOUND")) ? 1 : 0);

/** The name of the first test that fails, or undefined. */
function tryBug(file, changes, kind) {
  copySource();
  const path = join(copy, "src", file);
  writeFileSync(path, plantChanges(readFileSync(path, "utf8"), file, changes));
  return firstFailureOf(kind);
}

function copySource() {
  rmSync(copy, { recursive: true, force: true });
  cpSync(join(SERVICE, "src"), join(copy, "src"), { recursive: true });
  cpSync(join(SERVICE, "migrations"), join(copy, "migrations"), { recursive: true });
}

function firstFailureOf(kind) {
  for (const test of TESTS[kind]) {
    const failed = firstFailure(test, kind);
    if (failed !== undefined) return failed;
  }
  return undefined;
}

function firstFailure(test, kind, attempts = 3) {
  const report = join(copy, "report.json");
  const path = join(copy, "src", test);
  const options = [
    "--selectProjects",
    kind,
    "--runTestsByPath",
    path,
    "--json",
    "--outputFile",
    report,
    "--silent",
  ];
  const { stderr } = spawnSync(process.execPath, [JEST, ...options], {
    cwd: ROOT,
    env: { ...process.env, LEDGER_TEST_SHARE: "0.5" },
    encoding: "utf8",
    maxBuffer: 2 ** 28,
  });
  if (!existsSync(report)) {
    // Jest's file map is shared with other runs, and may not contain this copy yet.
    if (attempts > 1 && stderr.includes("No tests found")) return firstFailure(test, kind, attempts - 1);
    throw new Error(`jest did not run: ${stderr}`);
  }
  const { testResults } = JSON.parse(readFileSync(report, "utf8"));
  for (const suite of testResults) {
    const failed = suite.assertionResults.find(({ status }) => status === "failed");
    if (failed) return failed.fullName;
    if (suite.status === "failed")
      return suite.message.split("\n").find((line) => line.trim() !== "") ?? "does not run";
  }
  return undefined;
}
