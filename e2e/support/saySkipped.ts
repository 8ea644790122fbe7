import { appendFileSync } from "node:fs";

/** Why tests are skipped here, to whoever looks on and to the runner, which repeats it at its end. */
export function saySkipped(why: string): void {
  process.stderr.write(`  skipped: ${why}\n`);
  const file = process.env.WONRAIL_TEST_SKIPPED;
  if (file !== undefined) appendFileSync(file, `${why}\n`);
}
