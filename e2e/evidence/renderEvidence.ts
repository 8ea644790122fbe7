import { type Figures, type RehearsalFigures, type RestoreFigures, type TortureFigures } from "./figures";
import { readResult, type Result } from "./results";
import { BUGS } from "../torture/bugs/bugs";
import { readHuntResults } from "../torture/bugs/results";
import { type FuzzFigures, type TallyFigures } from "../fuzz/figures";

const NOT_RUN = "not run";

type Row = [figure: string, value: string];

/** Renders docs/evidence/index.md from the stored results. A part without a result says so. */
export function renderEvidence(): string {
  return `<!-- Generated from docs/evidence/results by npm run evidence; do not edit. -->

# Evidence

Figures of real runs. Each part stores its result as JSON in \`docs/evidence/results\`, and this page
shows the newest one. A run that found something is shown, too.

\`\`\`sh
npm run evidence                              # write this page from the stored results
npm run evidence -- --run                     # run every part again, then write the page; takes hours
npm run evidence -- --run --only fuzz         # only these parts
npm run evidence -- --torture DIR             # take the seeds of: npm run torture -- --folder DIR
\`\`\`

The parts are \`invariants\`, \`symbolic\`, \`slither\`, \`fuzz\`, \`restore\`, \`torture\` and \`bugs\`. The
last three need Java for Kafka. \`symbolic\`, \`slither\` and schemathesis need Python 3.10 with pip.
The first run installs their packages. The other tools come with \`npm ci\`.

${section("Faults under load", "torture", tortureRows, "[How it works](torture.md).")}${faultTable(readResult("torture")?.figures)}
## Planted bugs

${tableOf(bugRows())}
[Each bug, and the run that found it](torture.md#planted-bugs).

${section("Restore", "restore", restoreRows, RESTORE)}
${section("Fuzzing", "fuzz", fuzzRows, FUZZING)}
${section("Tenants", "fuzz", pairRows, TENANTS)}
${section("Contracts", "invariants", ({ runs, calls, tests }) => [
  ["Invariants", count(tests.length)],
  ["Random sequences", count(runs)],
  ["Calls", count(calls)],
  ["Broken invariants", count(tests.filter(({ passed }) => !passed).length)],
])}
${section("Symbolic checks", "symbolic", ({ checks }) => [
  ["Properties", count(checks.length)],
  ["Proven", count(checks.filter(({ passed }) => passed).length)],
])}
[Each property, and each finding of slither with its triage](contracts.md).
`;
}

const FUZZING = `Our generators make valid, nearly valid and hostile requests from the OpenAPI document and from the
proto descriptors. They use the keys of two organisations, and each caller of
\`proto/callers.json\`. Each REST answer is compared with the document. A 5xx, \`INTERNAL\`, \`UNKNOWN\`,
\`UNAVAILABLE\`, and a call without an answer count as a fault of ours.`;

const RESTORE = `All databases are destroyed under load and restored by the commands of
[Back up and restore](../operate/backup.md). Afterwards the books, the chain and the supply agree,
and orders that partners repeat are not paid twice.`;

const TENANTS = `A pair is an id of one organisation in a request with the key of another one. Each id is tried in
every request of the contract that takes an id of any kind. The answer must equal the answer for an
unknown id.`;

function section<Part extends keyof Figures>(
  title: string,
  part: Part,
  rowsOf: (figures: Figures[Part]) => Row[],
  text = "",
): string {
  const result = readResult(part);
  const rows: Row[] = result ? [...rowsOf(result.figures), ["Run", whenOf(result)]] : [["Result", NOT_RUN]];
  return `## ${title}\n${text && `\n${text}\n`}\n${tableOf(rows)}`;
}

function tableOf(rows: Row[]): string {
  const lines = rows.map(([figure, value]) => `| ${figure} | ${value} |\n`);
  return `| Figure | Value |\n|---|---|\n${lines.join("")}`;
}

function whenOf({ date, seconds, command }: Omit<Result<keyof Figures>, "figures">): string {
  return `${date}, ${duration(seconds)}: \`${command}\``;
}

function bugRows(): Row[] {
  const results = readHuntResults();
  const missed = results.filter(({ findings }) => findings.length === 0).map(({ name }) => name);
  return [
    ["Planted, one at a time", count(BUGS.length)],
    ["Run", count(results.length)],
    ["Found", count(results.length - missed.length)],
    ["Not found", missed.join("; ") || "none"],
    ["Command", "`npm run torture:bugs`"],
  ];
}

function tortureRows({ runs }: TortureFigures): Row[] {
  const sum = (of: (run: TortureFigures["runs"][number]) => number) =>
    count(runs.reduce((total, run) => total + of(run), 0));
  const kinds = new Set(runs.flatMap(({ faults }) => Object.keys(faults)));
  const findings = runs.flatMap(({ seed, findings: found }) => found.map((one) => `${one} (seed ${seed})`));
  return [
    ["Seeds", runs.map(({ seed, date }) => `${seed} (${date})`).join(", ")],
    ["Operations", sum(({ operations }) => operations)],
    ["Faults", sum(({ faults }) => Object.values(faults).reduce((total, one) => total + one, 0))],
    ["Kinds of faults", count(kinds.size)],
    ["Violations", findings.join(", ") || "0"],
    ["Unknown outcomes, resolved", sum(({ resolved }) => resolved)],
    ["Unknown outcomes, not resolved", sum(({ unknown }) => unknown)],
  ];
}

/** Faults overlap, so a wait counts for each kind that was active. */
function faultTable(figures: TortureFigures | undefined): string {
  if (!figures) return "";
  const kinds = [...new Set(figures.runs.flatMap(({ faults }) => Object.keys(faults)))].sort();
  const rows = kinds.map((kind) => {
    const total = figures.runs.reduce((sum, { faults }) => sum + (faults[kind] ?? 0), 0);
    const longest = Math.max(...figures.runs.map(({ longestWaitMs }) => longestWaitMs[kind] ?? 0));
    return `| \`${kind}\` | ${total} | ${(longest / 1_000).toFixed(1)} s |`;
  });
  return `
The longest wait is the time from an operation's first attempt to its answer. Faults overlap, so a
wait counts for every kind that was active.

| Kind | Faults | Longest wait of an operation |
|---|---:|---:|
${rows.join("\n")}
`;
}

function restoreRows({ withKafka, withoutKafka }: RestoreFigures): Row[] {
  return [...rehearsalRows("With Kafka", withKafka), ...rehearsalRows("Without Kafka", withoutKafka)];
}

function rehearsalRows(
  name: string,
  { lostSeconds, lostOrders, enteredAgain, rtoSeconds }: RehearsalFigures,
): Row[] {
  return [
    [`${name}: restored to a moment before the disaster`, `${lostSeconds} s`],
    [`${name}: settled orders of that time`, count(lostOrders)],
    [`${name}: entered again by the commands (RPO)`, `${enteredAgain} of ${lostOrders}`],
    [`${name}: until settlement went on (RTO)`, `${rtoSeconds} s`],
  ];
}

function fuzzRows({ seed, rest, grpc, schemathesis, ledger }: FuzzFigures): Row[] {
  return [
    ["Seed", String(seed)],
    ...tallyRows("REST, our generator", rest),
    ...schemathesisRows(schemathesis),
    ...tallyRows("gRPC, our generator", grpc),
    ["`wonrail verify` afterwards", ledger.split("\n").at(-1)!],
  ];
}

function tallyRows(name: string, tally: TallyFigures | undefined): Row[] {
  if (!tally) return [[name, NOT_RUN]];
  const answers = Object.entries(tally.answers).sort();
  return [
    [`${name}: requests`, count(tally.cases)],
    [`${name}: faults of ours`, count(tally.serverErrors)],
    [`${name}: undocumented answers`, count(tally.undocumented)],
    [`${name}: answers`, answers.map(([status, times]) => `${status} ${count(times)}`).join(", ")],
  ];
}

function schemathesisRows(figures: FuzzFigures["schemathesis"]): Row[] {
  if (!figures) return [["REST, schemathesis", NOT_RUN]];
  if ("skipped" in figures) return [["REST, schemathesis", `skipped: ${figures.skipped}`]];
  return [
    ["REST, schemathesis: requests", count(figures.cases)],
    ["REST, schemathesis: operations", count(figures.operations)],
    ["REST, schemathesis: faults of ours", count(figures.serverErrors)],
  ];
}

function pairRows({ pairs }: FuzzFigures): Row[] {
  if (!pairs) return [["Pairs", NOT_RUN]];
  return [
    ["Ids", count(pairs.ids)],
    ["Requests that take an id", count(pairs.requests)],
    ["Pairs", count(pairs.pairs)],
    ["Leaks", count(pairs.leaks)],
    ["Objects changed with a foreign key", count(pairs.changed)],
  ];
}

function count(value: number): string {
  return value.toLocaleString("en-US");
}

function duration(seconds: number): string {
  if (seconds < 120) return `${seconds} s`;
  return `${Math.round(seconds / 60)} min`;
}
