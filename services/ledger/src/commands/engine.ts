import { CommitUnknownError, isUniqueViolation, type Database } from "@wonrail/kit/db";
import { DomainError } from "@wonrail/kit/errors";
import { createLane, type Outcome as Settled } from "@wonrail/kit/lane";
import type { Log } from "@wonrail/kit/log";
import type { Registry } from "@wonrail/kit/metrics";
import type { Outcome } from "../domain/types";
import { engineMetrics, type EngineMetrics } from "./engineMetrics";
import { postBatch, type BatchDeps, type Item } from "./postBatch";

export interface EngineOptions {
  db: Database;
  log: Log;
  registry?: Registry;
  maxBatch?: number;
  maxQueue?: number;
}

export interface Engine {
  /** Resolves after the commit. Refusals are outcomes; a rejection means that nothing is known to have been done. */
  post(item: Item): Promise<Outcome>;
  close(): Promise<void>;
}

const MAX_BATCH = 1_000;
const MAX_QUEUE = 20_000;
const ATTEMPTS = 3;

interface Parts extends BatchDeps {
  log: Log;
  metrics: EngineMetrics;
}

/** One lane for the whole process: all that queued while the last batch was in flight is the next batch. */
export function createEngine({
  db,
  log,
  registry,
  maxBatch = MAX_BATCH,
  maxQueue = MAX_QUEUE,
}: EngineOptions): Engine {
  const metrics = engineMetrics(registry);
  const parts: Parts = { db, log, metrics, knownOrgs: new Set(), onLockWait: metrics.lockWaited };
  const lane = createLane<Item, Outcome>({
    name: "ledger",
    work: (items) => postLive(parts, items),
    maxBatch,
    maxQueue,
    ...(registry ? { registry } : {}),
  });
  return { post: (item) => lane.submit(item), close: () => lane.close() };
}

/** What nobody waits for any more is not begun. */
async function postLive(parts: Parts, items: Item[]): Promise<Settled<Outcome>[]> {
  const nowMs = Date.now();
  const live = items.filter(({ deadlineMs }) => deadlineMs > nowMs);
  if (live.length === items.length) return postOrSplit(parts, items);
  const settled = live.length === 0 ? [] : await postOrSplit(parts, live);
  const byItem = new Map(live.map((item, index) => [item, settled[index]!]));
  return items.map((item) => byItem.get(item) ?? { ok: false, error: new DomainError("SYS_003") });
}

/**
 * The whole batch again first, since most errors of a database pass; then by halves, in order, until the one that cannot be done stands
 * alone and fails alone.
 */
async function postOrSplit(parts: Parts, items: Item[]): Promise<Settled<Outcome>[]> {
  for (let attempt = 1; ; attempt += 1) {
    try {
      const endTimer = parts.metrics.startBatch();
      const { outcomes, decision } = await postBatch(parts, items);
      endTimer();
      parts.metrics.posted(decision);
      return outcomes.map((value) => ({ ok: true, value }));
    } catch (error) {
      if (attempt < ATTEMPTS && mayPass(error)) continue;
      if (items.length > 1 && !concernsAll(error)) {
        const half = items.length >> 1;
        const first = await postOrSplit(parts, items.slice(0, half));
        return [...first, ...(await postOrSplit(parts, items.slice(half)))];
      }
      if (!(error instanceof DomainError))
        parts.log.error({ err: error, items: items.length }, "posting failed");
      parts.metrics.failed(items.length);
      return items.map(() => ({ ok: false, error }));
    }
  }
}

/**
 * A commit without an answer is repeated: what it did is in the journal and is answered from there. A unique key that was taken meanwhile,
 * by another replica's batch with the same request or wallet, is seen by the next attempt.
 */
function mayPass(error: unknown): boolean {
  return error instanceof CommitUnknownError || isUniqueViolation(error);
}

/** The database is away or overloaded: halves would fare no better. */
function concernsAll(error: unknown): boolean {
  return error instanceof DomainError;
}
