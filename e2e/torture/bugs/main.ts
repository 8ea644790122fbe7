import { spawn } from "node:child_process";
import { existsSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { type PlantedBug } from "./bugs";
import { type HuntOptions, readHuntOptions, USAGE } from "./options";
import { createScratchCopy, type ScratchCopy } from "./scratchCopy";

/**
 * Plants one bug at a time in a copy of the system, and shows which seed and which checks find it.
 * Returns the exit code: 1 when no seed finds a bug.
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
    process.stdout.write("| Planted | In | Found with | Found by | Seconds |\n|---|---|---|---|---|\n");
    for (const bug of options.bugs) if (!(await hunt(bug))) survivors += 1;
    process.stdout.write(`${options.bugs.length - survivors} of ${options.bugs.length} bugs found\n`);
    return survivors === 0 ? 0 : 1;
  } finally {
    copy.remove();
  }
}

/** Returns a function that writes a bug's row and returns true when a seed finds the bug. */
function createHunt(
  copy: ScratchCopy,
  { seeds, run, ...options }: HuntOptions,
): (bug: PlantedBug) => Promise<boolean> {
  const sound = new Set(options.sound);

  /** A run that fails without a bug would seem to find every bug. */
  async function requireSound(seed: string): Promise<void> {
    if (sound.has(seed)) return;
    const { findings } = await runOnce(copy.dir, ["--seed", seed, ...run]);
    if (findings.length > 0) throw new Error(`seed ${seed} fails without a bug: ${findings.join(", ")}`);
    sound.add(seed);
  }

  return async ({ name, file, ...bug }) => {
    const startedMs = performance.now();
    const row = (seed: string, findings: string[]): void => {
      const seconds = Math.round((performance.now() - startedMs) / 1_000);
      process.stdout.write(`| ${name} | ${file} | ${seed} | ${findings.join(", ")} | ${seconds} |\n`);
    };
    for (const [index, seed] of seeds.entries()) {
      await requireSound(seed);
      const takeOut = copy.plant({ name, file, ...bug });
      const { findings } = await runOnce(copy.dir, ["--seed", seed, ...run]).finally(takeOut);
      if (findings.length === 0) continue;
      row(`seed ${index + 1}`, findings);
      return true;
    }
    row("NOT FOUND", []);
    return false;
  };
}

/** Runs the harness of the copy. An error that ends the run before its checks is a finding too. */
async function runOnce(dir: string, options: string[]): Promise<{ findings: string[] }> {
  const folder = mkdtempSync(join(tmpdir(), "wonrail-bug-"));
  const program = 'require("./e2e/dist/torture/main.js").main(process.argv.slice(1)).then(process.exit)';
  const child = spawn(
    process.execPath,
    ["-e", program, "--", ...options, "--shrink", "0", "--folder", folder],
    { cwd: dir, stdio: ["ignore", "pipe", "pipe"] },
  );
  let output = "";
  child.stdout.on("data", (chunk: Buffer) => (output += chunk.toString()));
  child.stderr.on("data", (chunk: Buffer) => (output += chunk.toString()));
  const signal = await new Promise<NodeJS.Signals | null>((resolve) =>
    child.on("exit", (_, by) => resolve(by)),
  );
  if (signal !== null) throw new Error(`the run was ended with ${signal}`);
  const result = join(folder, options[1]!, "result.json");
  if (process.env.WONRAIL_TEST_LOGS !== undefined)
    writeFileSync(join(process.env.WONRAIL_TEST_LOGS, `bug-${Date.now()}.log`), output);
  try {
    if (existsSync(result)) return JSON.parse(readFileSync(result, "utf8")) as { findings: string[] };
    const reason = output.split("\n").find((line) => line.includes("Error"));
    if (reason === undefined) throw new Error(`the run has no result: ${output}`);
    return { findings: [`the run ended early: ${reason.trim()}`] };
  } finally {
    rmSync(folder, { recursive: true, force: true });
  }
}
