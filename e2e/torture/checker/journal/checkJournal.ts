import { type Operation } from "../operations";
import { type Violation } from "../violation";
import { accountOf, availableOf, Broken, openBook, demand, type Book } from "./book";
import { RULES, type ExpectedLine } from "./entryRules";
import { type Entry, type Journal } from "./readJournal";

/**
 * Replays an organisation's journal in the ledger's order. Every line is recomputed from the lines
 * before it: sums, floors, limits, splits, accruals and claw-backs.
 */
export function checkJournal(
  journal: Journal,
  operationOf: (entryId: string) => Operation | undefined,
): Violation[] {
  const { organisation, entries, accounts, missingEntries } = journal;
  const violations: Violation[] = [];
  const report = (message: string, operation?: Operation) =>
    violations.push({ check: "journal", organisation, message, operations: operation ? [operation.id] : [] });
  const book = openBook(journal);
  entries.forEach((entry, index) => {
    const operation = operationOf(entry.id);
    if (entry.sequence !== index + 1)
      report(`${entry.id} has the sequence ${entry.sequence}, not ${index + 1}`);
    try {
      applyEntry(book, entry, operation?.body);
    } catch (error) {
      if (!(error instanceof Broken)) throw error;
      report(`${entry.kind} ${entry.id}: ${error.message}`, operation);
    }
  });
  for (const id of missingEntries) report(`postings name the entry ${id}, which does not exist`);
  for (const { id, balance, held, lastSequence } of accounts) {
    const replayed = accountOf(book, id);
    if (replayed.balance !== balance || replayed.held !== held || replayed.sequence !== lastSequence)
      report(
        `account ${id} has ${balance} with ${held} held after ${lastSequence} lines; ` +
          `its lines give ${replayed.balance} with ${replayed.held} held after ${replayed.sequence}`,
      );
  }
  const sum = accounts.reduce((total, { balance }) => total + balance, 0);
  if (sum !== 0) report(`the accounts sum to ${sum} instead of 0`);
  return violations;
}

/** Posts the lines of the journal, also if they are wrong, so that later entries are judged by themselves. */
function applyEntry(book: Book, entry: Entry, asked: Operation["body"]): void {
  let broken: Broken | undefined;
  const attempt = (work: () => void): void => {
    try {
      work();
    } catch (error) {
      if (!(error instanceof Broken)) throw error;
      broken ??= error;
    }
  };
  attempt(() => requireSameLines(entry, RULES[entry.kind](book, entry, asked)));
  attempt(() => {
    for (const { account: id } of entry.lines)
      demand(!accountOf(book, id).isClosed || entry.kind === "creditExternal", `${id} is closed`);
  });
  for (const line of entry.lines) attempt(() => postLine(book, line));
  attempt(() => {
    for (const id of [...entry.lines.map(({ account }) => account), ...entry.touched]) requireFloor(book, id);
  });
  if (broken) throw broken;
}

function requireSameLines({ lines }: Entry, expected: ExpectedLine[]): void {
  const texts = (all: ExpectedLine[]) =>
    all
      .map((line) => line.join(" "))
      .sort()
      .join(", ");
  const actual = texts(lines.map(({ account, type, amount }) => [account, type, amount]));
  demand(actual === texts(expected), `has the lines [${actual}] instead of [${texts(expected)}]`);
}

function postLine(book: Book, { account: id, sequence, amount, balanceAfter }: Entry["lines"][number]): void {
  const account = accountOf(book, id);
  const [expectedSequence, expectedBalance] = [account.sequence + 1, account.balance + amount];
  account.sequence = sequence;
  account.balance = balanceAfter;
  demand(sequence === expectedSequence, `line ${sequence} of ${id} follows line ${expectedSequence - 1}`);
  demand(balanceAfter === expectedBalance, `${id} has ${balanceAfter} after a line, not ${expectedBalance}`);
}

function requireFloor(book: Book, id: string): void {
  const account = accountOf(book, id);
  if (account.userId === null) return;
  demand(
    account.held >= 0 && availableOf(account) >= 0,
    `${id} has ${account.balance}, and ${account.held} held`,
  );
}

/** An operation that was answered before another one was called comes first in the ledger's order. */
export function checkTimes(
  operations: Operation[],
  sequenceOf: (operation: Operation) => number | undefined,
): Violation[] {
  const posted = operations
    .flatMap((operation) => {
      const sequence = sequenceOf(operation);
      return sequence === undefined ? [] : [{ operation, sequence }];
    })
    .sort((one, other) => other.sequence - one.sequence);
  const violations: Violation[] = [];
  /** The operation with a greater sequence that was answered first, by organisation. */
  const firstAnswered = new Map<string, Operation>();
  for (const { operation } of posted) {
    const { organisation, invokedAt, outcome, id } = operation;
    const first = firstAnswered.get(organisation);
    if (first?.outcome && first.outcome.at < invokedAt) {
      const message = "the ledger's order puts an operation before one that was answered earlier";
      violations.push({ check: "journal", organisation, message, operations: [first.id, id] });
    }
    if (outcome && !(first?.outcome && first.outcome.at <= outcome.at))
      firstAnswered.set(organisation, operation);
  }
  return violations;
}
