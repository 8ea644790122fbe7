import { spawn } from "node:child_process";
import { existsSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { type PlantedBug } from "./bugs";
import { type Attempt, type HuntOptions, readHuntOptions, USAGE } from "./options";
import { type HuntResult, saveResult } from "./results";
import { createScratchCopy, type ScratchCopy } from "./scratchCopy";

/**
 * Plants one bug at a time in a copy of the system, and shows which run and which checks find it.
 * Returns the exit code: 1 when no run finds a bug.
 */
export async function main(args = process.argv.slice(2)): Promise<number> {
  if (args.includes("--help")) {
    process.stdout.write(USAGE);
    return 0;
  }
  const options = readHuntOptions(args);
  const copy = createScratchCopy();
  try {
    const hunt = createHunt(copy, options);
    let survivors = 0;
    for (const bug of options.bugs) {
      const startedMs = performance.now();
      const result = await hunt(bug);
      saveResult(result);
      const seconds = Math.round((performance.now() - startedMs) / 1_000);
      const found = result.findings.join(", ") || "NOT FOUND";
      process.stdout.write(`${bug.name}: ${found} (${result.runs.join(", ")}; ${seconds} s)\n`);
      if (result.findings.length === 0) survivors += 1;
    }
    process.stdout.write(`${options.bugs.length - survivors} of ${options.bugs.length} bugs found\n`);
    return survivors === 0 ? 0 : 1;
  } finally {
    copy.remove();
  }
}

/** Returns a function that runs the harness with a bug until a run finds it. */
function createHunt(
  copy: ScratchCopy,
  { attempts, run, ...options }: HuntOptions,
): (bug: PlantedBug) => Promise<HuntResult> {
  const sound = new Set<Attempt>(attempts.filter(({ seed }) => options.sound.includes(seed)));

  /** A run that fails without a bug would seem to find every bug. */
  async function requireSound(attempt: Attempt): Promise<void> {
    if (sound.has(attempt)) return;
    const { findings } = await runOnce(copy.dir, attempt, run);
    if (findings.length > 0)
      throw new Error(`seed ${attempt.seed} fails without a bug: ${findings.join(", ")}`);
    sound.add(attempt);
  }

  return async (bug) => {
    const runs: string[] = [];
    for (const attempt of attempts) {
      await requireSound(attempt);
      const takeOut = copy.plant(bug);
      const { findings } = await runOnce(copy.dir, attempt, run).finally(takeOut);
      runs.push(`${attempt.operations}x${attempt.faults}`);
      if (findings.length > 0) return { name: bug.name, runs, findings };
    }
    return { name: bug.name, runs, findings: [] };
  };
}

/** Runs the harness of the copy. An error that ends the run before its checks is a finding too. */
async function runOnce(
  dir: string,
  { seed, operations, faults }: Attempt,
  run: string[],
): Promise<{ findings: string[] }> {
  const folder = mkdtempSync(join(tmpdir(), "wonrail-bug-"));
  const program = 'require("./e2e/dist/torture/main.js").main(process.argv.slice(1)).then(process.exit)';
  const size = ["--seed", seed, "--ops", operations, "--faults", faults];
  const child = spawn(
    process.execPath,
    ["-e", program, "--", ...size, ...run, "--shrink", "0", "--folder", folder],
    { cwd: dir, stdio: ["ignore", "pipe", "pipe"] },
  );
  let output = "";
  child.stdout.on("data", (chunk: Buffer) => (output += chunk.toString()));
  child.stderr.on("data", (chunk: Buffer) => (output += chunk.toString()));
  const signal = await new Promise<NodeJS.Signals | null>((resolve) =>
    child.on("exit", (_, by) => resolve(by)),
  );
  if (signal !== null) throw new Error(`the run was ended with ${signal}`);
  const result = join(folder, seed, "result.json");
  if (process.env.WONRAIL_TEST_LOGS !== undefined)
    writeFileSync(join(process.env.WONRAIL_TEST_LOGS, `bug-${Date.now()}.log`), output);
  try {
    if (existsSync(result)) return JSON.parse(readFileSync(result, "utf8")) as { findings: string[] };
    const reason = output.split("\n").find((line) => /^\w*Error: /.test(line));
    if (reason === undefined) throw new Error(`the run has no result: ${output}`);
    return { findings: [`the run ended early: ${reason.trim()}`] };
  } finally {
    rmSync(folder, { recursive: true, force: true });
  }
}
