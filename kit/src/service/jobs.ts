import { DomainError } from "../contract/errors";
import { type Log } from "../log";
import { Counter, Gauge, type Registry } from "../metrics";
import { createPause, type Pause } from "../pause";

/**
 * A repeated task. Every job is safe in several concurrent replicas: it takes its work by row lock.
 */
export interface Job {
  name: string;
  everyMs: number;
  /**
   * After a round that returns false, for lack of work, the next one comes after this time or a
   * wake-up.
   */
  quiet?: { everyMs: number; word: Pause };
  run: (signal: AbortSignal) => Promise<unknown>;
}

export interface RunningJobs {
  close(): Promise<void>;
}

/** An hourly or daily job retries sooner than that after a failure. */
const LONGEST_REST_AFTER_FAILURE_MS = 60_000;

/**
 * Runs each job in its own loop, never twice at once. A failed round is logged, counted and retried
 * within a minute.
 */
export function startJobs(jobs: Job[], { log, registry }: { log: Log; registry: Registry }): RunningJobs {
  const failures = new Counter({
    name: "job_failures_total",
    help: "Rounds of a background job that failed",
    labelNames: ["job_name"],
    registers: [registry],
  });
  const lastSuccess = new Gauge({
    name: "job_last_success_timestamp_seconds",
    help: "When a background job last finished a round, in seconds since the epoch",
    labelNames: ["job_name"],
    registers: [registry],
  });
  const stop = new AbortController();
  const rest = createPause();
  const loops = jobs.map((job) => loop(job));

  async function loop(job: Job): Promise<void> {
    failures.inc({ job_name: job.name }, 0);
    while (!stop.signal.aborted) {
      let found: unknown;
      let restMs = job.everyMs;
      try {
        found = await job.run(stop.signal);
        lastSuccess.set({ job_name: job.name }, Date.now() / 1000);
      } catch (error) {
        // A round aborted by the stop has not failed.
        if (stop.signal.aborted && error === stop.signal.reason) return;
        failures.inc({ job_name: job.name });
        restMs = Math.min(job.everyMs, LONGEST_REST_AFTER_FAILURE_MS);
        // An unreachable dependency has its own alert; a stack per round would flood the log.
        const busy = error instanceof DomainError && error.retryable;
        log.warn(
          { job: job.name, err: busy ? undefined : error, code: busy ? error.code : undefined },
          "job failed",
        );
      }
      await rest.sleepUnwoken(restMs);
      if (found === false) await job.quiet?.word.sleep(job.quiet.everyMs - job.everyMs);
    }
  }

  return {
    async close() {
      stop.abort();
      rest.close();
      for (const { quiet } of jobs) quiet?.word.close();
      await Promise.all(loops);
    },
  };
}
