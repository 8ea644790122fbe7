import { Counter, DURATION_BUCKETS_SECONDS, Histogram, type Registry } from "@wonrail/kit/metrics";
import type { Decision } from "../intents/decide";

export interface EngineMetrics {
  startBatch(): { locked: () => void; done: () => void };
  posted(decision: Decision): void;
  failed(items: number): void;
}

/** Batch size and queue depth are the queue's own (`batch_queue_batch_size`, `batch_queue_depth`). */
export function engineMetrics(registry: Registry): EngineMetrics {
  const registers = [registry];
  const buckets = DURATION_BUCKETS_SECONDS;
  const batch = new Histogram({
    name: "ledger_batch_seconds",
    help: "Duration of a batch from its first statement to its commit",
    buckets,
    registers,
  });
  const lockWait = new Histogram({
    name: "ledger_lock_wait_seconds",
    help: "Time from the start of a batch until it has locked all its accounts",
    buckets,
    registers,
  });
  const entries = new Counter({
    name: "ledger_entries_total",
    help: "Posted intents, by kind",
    labelNames: ["kind"],
    registers,
  });
  const refusals = new Counter({
    name: "ledger_refusals_total",
    help: "Intents that were refused, by code",
    labelNames: ["code"],
    registers,
  });
  const postings = new Counter({ name: "ledger_postings_total", help: "Postings written", registers });
  const replays = new Counter({
    name: "ledger_replays_total",
    help: "Requests answered with a stored outcome",
    registers,
  });
  const failures = new Counter({
    name: "ledger_failures_total",
    help: "Requests that failed: the ledger neither posted nor refused them",
    registers,
  });
  return {
    startBatch: () => ({ locked: lockWait.startTimer(), done: batch.startTimer() }),
    posted({ answers, changes }) {
      replays.inc(answers.filter(({ replayed }) => replayed).length);
      for (const { answer } of changes.answered) {
        if (answer.outcome.status === "refused") refusals.inc({ code: answer.outcome.code });
        else {
          entries.inc({ kind: answer.outcome.entry.kind });
          postings.inc(answer.outcome.entry.postings.length);
        }
      }
    },
    failed: (items) => failures.inc(items),
  };
}
