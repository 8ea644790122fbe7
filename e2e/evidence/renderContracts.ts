import { readText } from "../ops/repository";
import { LOOP_TURNS, type SlitherFinding } from "./contracts";
import { readResult } from "./results";

/** Verdicts by a finding's key, written by hand. */
type Triage = Record<string, { verdict: string; reason: string }>;

const TRIAGE = "e2e/evidence/slitherTriage.json";

/** Renders docs/evidence/contracts.md. A finding of slither without a triage fails the page. */
export function renderContracts(): string {
  return `<!-- Generated from docs/evidence/results by npm run evidence; do not edit. -->

# Analyses of the contracts

The [contracts](../../contracts/README.md) have unit and fuzz tests with full coverage. Three more
analyses run with \`npm run evidence -- --run --only invariants,symbolic,slither\`.

## Invariants

Random sequences of calls run beside a model, which predicts each result. The sums, flags, nonces and
operation ids of the contracts must equal those of the model (\`contracts/test/Invariants.t.sol\`,
\`contracts/test/MintCap.t.sol\`).

| Invariant | Sequences | Calls | Holds |
|---|---:|---:|---|
${invariantRows()}

## Symbolic checks

halmos proves each property for all values of its arguments (\`contracts/test/Symbolic.t.sol\`).
Signatures are symbolic: the recovery of a signer may return any address. Batches have at most two
operations of at most two steps. Not proven, but tested: the forms with \`bytes\` signatures,
malleated signatures, and sequences of more than two calls by authorization.

| Property | Paths | Proven |
|---|---:|---|
${symbolicRows()}

## slither

\`${TRIAGE}\` has a verdict for each finding. The page cannot be
written while a finding has none. Findings inside OpenZeppelin are left out.

| Finding | Impact | Place | Verdict | Reason |
|---|---|---|---|---|
${slitherRows()}
`;
}

function invariantRows(): string {
  const tests = readResult("invariants")?.figures.tests;
  if (!tests) return "| not run | | | |";
  return tests
    .map(({ name, runs, calls, passed }) => {
      const numbers = [runs, calls].map((value) => value.toLocaleString("en-US"));
      return `| ${sentenceOf(name)} | ${numbers.join(" | ")} | ${yesOrNo(passed)} |`;
    })
    .join("\n");
}

function symbolicRows(): string {
  const checks = readResult("symbolic")?.figures.checks;
  if (!checks) return "| not run | | |";
  return checks
    .map(({ name, paths, passed, boundedLoops }) => {
      const bounded = boundedLoops > 0 ? `, loops cut after ${LOOP_TURNS} turns` : "";
      return `| ${sentenceOf(name)} | ${paths} | ${yesOrNo(passed)}${bounded} |`;
    })
    .join("\n");
}

function slitherRows(): string {
  const findings = readResult("slither")?.figures.findings;
  if (!findings) return "| not run | | | | |";
  const triage = JSON.parse(readText(TRIAGE)) as Triage;
  return findings.map((finding) => slitherRow(finding, triage)).join("\n");
}

function slitherRow({ key, impact, place }: SlitherFinding, triage: Triage): string {
  const judged = triage[key];
  if (!judged) throw new Error(`${TRIAGE} has no verdict for "${key}"`);
  return `| \`${key}\` | ${impact} | ${place} | ${judged.verdict} | ${judged.reason} |`;
}

/** "check_aTransferMovesItsValue" as "A transfer moves its value". */
function sentenceOf(name: string): string {
  const words = name
    .replace(/^\w+?_/, "")
    .replaceAll(/([A-Z])/g, " $1")
    .toLowerCase();
  return words.charAt(0).toUpperCase() + words.slice(1);
}

function yesOrNo(value: boolean): string {
  return value ? "yes" : "NO";
}
