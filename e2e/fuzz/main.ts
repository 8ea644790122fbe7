import { localHome } from "@wonrail/kit/localStack";
import { type Home, homeAt } from "@wonrail/local/home";
import { type Stack } from "@wonrail/local/stackFile";
import { findPython } from "../clients/python";
import { EVIDENCE_PACKAGES } from "../evidence/python";
import { storeResult } from "../evidence/results";
import { readStack } from "../support/stackFile";
import { startStack } from "../support/startStack";
import { verifyLedger } from "../support/verifyLedger";
import { type Estate, makeEstate } from "./estate";
import { type FuzzFigures, type TallyFigures } from "./figures";
import { type Tally } from "./finding";
import { type FuzzOptions, type Part, readFuzzOptions, USAGE } from "./options";
import { runPairs } from "./runPairs";
import { runGrpc } from "./runGrpc";
import { runRest } from "./runRest";
import { runSchemathesis, type SchemathesisFigures } from "./schemathesis";

/** Objects of each kind and organisation, by which 20,000 pairs are possible. */
const OBJECTS = 30;
/** The parts of the time after which each part ends. */
const ENDS: Record<Part, number> = { pairs: 0.15, rest: 0.55, schemathesis: 0.7, grpc: 1 };

interface World {
  stack: Stack;
  home: Home;
  estates: readonly [Estate, Estate];
}

/** Fuzzes a stack. Returns the exit code. */
export async function main(args = process.argv.slice(2)): Promise<number> {
  if (args.includes("--help")) {
    process.stdout.write(USAGE);
    return 0;
  }
  const options = readFuzzOptions(args, Date.now());
  const startedMs = performance.now();
  report(`seed ${options.seed}`);
  const started = options.running ? undefined : await startStack({ bus: "feed", mtls: true });
  try {
    const home = started?.home ?? homeAt(localHome(process.env.WONRAIL_HOME));
    const stack = started?.stack() ?? readStack(home.dir);
    const estates = [await makeEstate(stack, OBJECTS), await makeEstate(stack, OBJECTS)] as const;
    report("the organisations are ready");
    const { figures, problems } = await fuzz({ stack, home, estates }, options);
    const seconds = Math.round((performance.now() - startedMs) / 1_000);
    process.stdout.write(`${JSON.stringify(figures, null, 2)}\n${problems.join("\n")}\n`);
    if (options.store) storeResult("fuzz", { command: commandOf(options), seconds, figures });
    return problems.length === 0 ? 0 : 1;
  } finally {
    await started?.stop();
  }
}

async function fuzz(
  { stack, home, estates }: World,
  { cases, pairs, seed, minutes, parts }: FuzzOptions,
): Promise<{ figures: FuzzFigures; problems: string[] }> {
  const startedAtMs = Date.now();
  const limitsOf = (part: Part) => ({
    ...{ stack, estates, seed, report },
    endsAtMs: startedAtMs + ENDS[part] * minutes * 60_000,
  });
  const figures: FuzzFigures = { seed, ledger: "" };
  const problems: string[] = [];
  const add = (name: string, { findings, ...tally }: Tally): TallyFigures => {
    problems.push(...findings.map(({ problem, request }) => `${name}: ${problem}\n  ${request}`));
    return tally;
  };
  if (parts.includes("pairs")) {
    const { leaks, ...counted } = await runPairs({ ...limitsOf("pairs"), pairs });
    problems.push(...leaks.map((leak) => `another organisation's object: ${leak}`));
    if (counted.changed > 0) problems.push(`${counted.changed} wallets were changed with a foreign key`);
    figures.pairs = { ...counted, leaks: leaks.length };
  }
  const restCases = Math.round(cases * 0.55);
  if (parts.includes("rest"))
    figures.rest = add("REST", await runRest({ ...limitsOf("rest"), cases: restCases }));
  if (parts.includes("schemathesis")) {
    figures.schemathesis = await trySchemathesis(stack, estates[0], { seed, minutes });
    if ("failures" in figures.schemathesis) problems.push(...figures.schemathesis.failures);
  }
  if (parts.includes("grpc"))
    figures.grpc = add("gRPC", await runGrpc({ ...limitsOf("grpc"), home, cases: cases - restCases }));
  figures.ledger = (await verifyLedger(stack)).trim();
  return { figures, problems };
}

/** Without Python the part is left out, with the reason. */
async function trySchemathesis(
  { gatewayUrl }: Stack,
  { apiKey }: Estate,
  { seed, minutes }: { seed: number; minutes: number },
): Promise<SchemathesisFigures | { skipped: string }> {
  const python = findPython(EVIDENCE_PACKAGES);
  if (!python.ok) return { skipped: python.why };
  const seconds = Math.max(10, Math.round((ENDS.schemathesis - ENDS.rest) * minutes * 60));
  report(`schemathesis runs for ${seconds} s`);
  return runSchemathesis(python, { gatewayUrl, apiKey, seed, seconds });
}

function commandOf({ cases, pairs, seed, minutes }: FuzzOptions): string {
  return `npm run fuzz -- --cases ${cases} --pairs ${pairs} --seed ${seed} --minutes ${minutes}`;
}

function report(line: string): void {
  process.stderr.write(`  ${new Date().toISOString().slice(11, 19)}  ${line}\n`);
}
