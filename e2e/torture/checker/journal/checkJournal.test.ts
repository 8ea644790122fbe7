import { collectHistory, mergeByKey } from "../operations";
import { simulateRun, type SimulatedRun } from "../testing/simulateRun";
import { checkEffects } from "./checkEffects";
import { checkJournal, checkTimes } from "./checkJournal";
import { type Entry, type EntryKind, type Journal } from "./readJournal";

const SEEDS = [1, 2, 3, 4, 5, 6, 7, 8];
const OPERATIONS = 200;

const check = ({ journal, links }: SimulatedRun) => checkJournal(journal, links.operationOf);
const operationsOf = async ({ lines }: SimulatedRun) => mergeByKey((await collectHistory(lines)).operations);

test.each(SEEDS)("the journal of a correct run passes (seed %i)", async (seed) => {
  const run = await simulateRun(seed, OPERATIONS);
  const operations = await operationsOf(run);
  expect(check(run)).toEqual([]);
  expect(checkTimes(operations, run.facts.sequenceOf!)).toEqual([]);
  expect(checkEffects([run.journal], operations, run.links)).toEqual([]);
});

/** Each plants an error in an entry of the kind. */
const PLANTED: [
  what: string,
  kind: EntryKind,
  plant: (entry: Entry, journal: Journal) => void,
  message: string,
][] = [
  ["a line with another amount", "charge", ({ lines }) => (lines[1]!.amount += 1), "instead of"],
  ["another balance after a line", "charge", ({ lines }) => (lines[1]!.balanceAfter += 1), "after a line"],
  ["a gap in a wallet's lines", "charge", ({ lines }) => (lines[1]!.sequence += 1), "follows line"],
  [
    "a line of another wallet",
    "transfer",
    ({ lines }) => (lines[1]!.account = "wal_shop_INCENTIVE"),
    "NORMAL",
  ],
  ["a refund of a part", "refund", ({ lines }) => lines.forEach((line) => (line.amount /= 2)), "instead of"],
  [
    "an accrual of another rate",
    "payment",
    ({ lines }) => lines.slice(-2).forEach((line) => (line.amount *= 2)),
    "instead of",
  ],
  [
    "a cancellation of another charge",
    "cancelCharge",
    (entry) => (entry.originalDigits = "0"),
    "does not exist",
  ],
  [
    "a cancellation after 30 days",
    "cancelCharge",
    (entry) => (entry.postedAtMs += 31 * 86_400_000),
    "30 days",
  ],
  [
    "a hold that ends twice",
    "postHold",
    (entry, { entries }) => entries.push({ ...entry, id: "trf_again", sequence: entries.length + 1 }),
    "not open",
  ],
  ["a hold beyond the balance", "placeHold", ({ hold }) => (hold!.amount += 1_000_000), "held"],
  [
    "a missing entry",
    "charge",
    (entry, { entries }) => entries.splice(entries.indexOf(entry), 1),
    "has the sequence",
  ],
  [
    "a payment to its payer",
    "payment",
    ({ lines }) => lines.forEach((line) => (line.account = line.account.replace(/ann|bob|shop/, "bob"))),
    "not allowed",
  ],
];

test.each(PLANTED)("%s is found", async (_, kind, plant, message) => {
  const run = await simulateRun(4, OPERATIONS);
  const entry = run.journal.entries.findLast((each) => each.kind === kind && each.lines.length !== 1)!;
  plant(entry, run.journal);
  expect(
    check(run)
      .map((violation) => violation.message)
      .join("\n"),
  ).toContain(message);
});

test("an account that differs from its lines is found, and a sum that is not zero", async () => {
  const run = await simulateRun(1, OPERATIONS);
  run.journal.accounts[0]!.balance += 1;
  expect(check(run)).toHaveLength(2);
});

test.each(["dailyTransferLimit", "dailyChargeLimit"] as const)("use over %s is found", async (limit) => {
  const run = await simulateRun(1, OPERATIONS);
  run.journal.rules[limit] = 5_000;
  expect(
    check(run)
      .map(({ message }) => message)
      .join("\n"),
  ).toContain("limit 5000");
});

test("an order of the ledger against the times of the calls is found", async () => {
  const run = await simulateRun(2, OPERATIONS);
  const operations = await operationsOf(run);
  const last = run.journal.entries.length + 1;
  const sequenceOf = (operation: (typeof operations)[number]) => {
    const sequence = run.facts.sequenceOf!(operation);
    return sequence === undefined ? undefined : last - sequence;
  };
  expect(checkTimes(operations, sequenceOf).length).toBeGreaterThan(0);
});

test("an entry without a call, a success without an entry, and an entry of a refusal are found", async () => {
  const run = await simulateRun(3, OPERATIONS);
  const operations = await operationsOf(run);
  const { journal, links } = run;
  const found = (changed: Partial<typeof links>, entries = journal.entries) =>
    checkEffects([{ ...journal, entries }], operations, { ...links, ...changed }).map(
      ({ message }) => message,
    );
  const charge = journal.entries.find(({ kind }) => kind === "charge")!;
  expect(found({}, [...journal.entries, { ...charge, id: "chg_second" }])).toEqual([
    expect.stringContaining("chg_second, which no call of the history asked for"),
  ]);
  expect(found({ entryOf: () => undefined })).toContainEqual(
    expect.stringContaining("has no entry for its key"),
  );
  expect(found({ entryOf: () => charge })).toContainEqual(expect.stringContaining("was refused with"));
  expect(found({ entryOf: () => charge })).toContainEqual(expect.stringContaining("the answer names"));
});
