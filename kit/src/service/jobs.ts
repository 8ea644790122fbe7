import { DomainError } from "../contract/errors";
import { type Log } from "../log";
import { Counter, Gauge, type Registry } from "../metrics";
import { pause, type Pause } from "../pause";

/** Something that is done again and again. Every job is safe to run in several replicas at once: it takes what it does by row lock. */
export interface Job {
  name: string;
  everyMs: number;
  /** After a round that gives false, which has found nothing to do, the next one comes only then, unless there is word of something before. */
  quiet?: { everyMs: number; word: Pause };
  run: (signal: AbortSignal) => Promise<unknown>;
}

export interface RunningJobs {
  close(): Promise<void>;
}

/** A job that runs once an hour or a day does not wait that long after a failure. */
const LONGEST_REST_AFTER_FAILURE_MS = 60_000;

/** Runs each job in a loop of its own, never twice at once. A failed round is logged, counted and retried within a minute. */
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
  const rest = pause();
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
        // What left off because it was to end has not failed.
        if (stop.signal.aborted && error === stop.signal.reason) return;
        failures.inc({ job_name: job.name });
        restMs = Math.min(job.everyMs, LONGEST_REST_AFTER_FAILURE_MS);
        // An unreachable dependency already has its own alarm; a stack for each round would only drown the log.
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
