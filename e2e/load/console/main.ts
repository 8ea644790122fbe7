// npm run bench -- console [--quick] [--organisations N] [--operations N] [--reads N] [--readme]:
// the reads of every screen of the console, among many organisations and operations.
import { performance } from "node:perf_hooks";
import { parseArgs } from "node:util";
import { startBenchPostgres } from "../postgres";
import { atMost, line, machine, type Result, table, writeJson, writeTable } from "../report";
import { type Size } from "./numbered";
import { SCREENS } from "./reads";
import { createWorld, type World } from "./world";

/** The slowest answer that an operator should wait for. */
const MAX_MS = 200;
const WARM_UPS = 5;
/** A read that takes this long, or fails, is not repeated. */
const GIVE_UP_MS = 5_000;
/** The log of the fill would take 16 GB of disk, and each filled table is vacuumed once. */
const FOR_FILLING = ["max_wal_size=3GB", "autovacuum=off"];
/** All rows are older. */
const SINCE_MS = Date.now() - 21 * 86_400_000;

async function main(): Promise<void> {
  const { values } = parseArgs({
    options: {
      quick: { type: "boolean" },
      organisations: { type: "string" },
      operations: { type: "string" },
      reads: { type: "string" },
      readme: { type: "boolean" },
    },
  });
  const [organisations, operations] = values.quick ? [1_000, 100_000] : [100_000, 1_000_000];
  const size: Size = {
    organisations: Number(values.organisations ?? organisations),
    operations: Number(values.operations ?? operations),
    sinceMs: SINCE_MS,
  };
  const reads = Number(values.reads ?? 100);
  const of = `${size.organisations.toLocaleString("en-US")} organisations, ${size.operations.toLocaleString("en-US")} operations`;
  const where = `${machine()}, ${of}, ${reads} reads each`;
  process.stdout.write(`${where}\n`);
  const postgres = await startBenchPostgres(FOR_FILLING);
  const results: Result[] = [];
  try {
    const world = await createWorld(postgres.adminUrl, size);
    try {
      for (const [screen, calls] of Object.entries(SCREENS)) {
        for (const [name, read] of Object.entries(calls)) {
          const result = await measure(world, `${screen}: ${name}`, read, reads);
          process.stdout.write(`${line(result)}\n`);
          results.push(result);
        }
      }
    } finally {
      await world.close();
    }
  } finally {
    await postgres.stop();
  }
  process.stdout.write(`\n${table(results)}\n\n${writeJson("console", results)}\n`);
  if (values.readme) writeTable("docs/performance/console.md", "console", where, results);
}

/** The 99th percentile, with the median beside it. A failed read never meets the goal. */
async function measure(
  world: World,
  name: string,
  read: (world: World) => Promise<unknown>,
  reads: number,
): Promise<Result> {
  const times: number[] = [];
  for (let count = -WARM_UPS; count < reads; count++) {
    const startMs = performance.now();
    const failure = await read(world).then(
      () => undefined,
      (error: unknown) => String(error),
    );
    const ms = failure === undefined ? performance.now() - startMs : Infinity;
    if (failure !== undefined) process.stderr.write(`${name}: ${failure}\n`);
    if (count >= 0 || ms > GIVE_UP_MS) times.push(ms);
    if (ms > GIVE_UP_MS) break;
  }
  times.sort((a, b) => a - b);
  const at = (share: number) => times[Math.min(times.length - 1, Math.floor(times.length * share))]!;
  return atMost(name, at(0.99), "ms", MAX_MS, `median ${at(0.5).toFixed(1)} ms`);
}

main().catch((error: unknown) => {
  process.stderr.write(`${error instanceof Error ? (error.stack ?? error.message) : String(error)}\n`);
  process.exitCode = 1;
});
