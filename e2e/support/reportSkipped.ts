import { appendFileSync } from "node:fs";

/**
 * Reports the reason of skipped tests to the terminal and to the runner, which repeats it at the
 * end.
 */
export function reportSkipped(why: string): void {
  process.stderr.write(`  skipped: ${why}\n`);
  const file = process.env.WONRAIL_TEST_SKIPPED;
  if (file !== undefined) appendFileSync(file, `${why}\n`);
}
