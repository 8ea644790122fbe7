import { CommitUnknownError, isUniqueViolation, type Database } from "@wonrail/kit/db";
import { DomainError, isRefusal, perhapsDone } from "@wonrail/kit/contract/errors";
import { createLane, type Outcome as Settled } from "@wonrail/kit/lane";
import type { Log } from "@wonrail/kit/log";
import type { Registry } from "@wonrail/kit/metrics";
import type { Outcome } from "../domain/types";
import { createFactsCache } from "../store/factsCache";
import { engineMetrics, type EngineMetrics } from "../metrics/engineMetrics";
import { postBatch, type BatchDeps, type Item } from "./postBatch";
import type { PostedLate } from "../store/postedLate";

export interface EngineOptions {
  db: Database;
  log: Log;
  registry: Registry;
  maxBatch: number;
  maxQueue: number;
  /** Is told what was committed. */
  /** Is told the same, and what turned out to be. */
  late: PostedLate;
}

export interface Engine {
  /** Resolves after the commit. Refusals are outcomes; a rejection means that nothing is known to have been done. */
  post(item: Item): Promise<Outcome>;
  close(): Promise<void>;
}

const ATTEMPTS = 3;
const LONGEST_DELAY_MS = 20;
/** Some 300 bytes each. */
const MAX_FACTS = 100_000;

interface Parts extends BatchDeps {
  log: Log;
  metrics: EngineMetrics;
  late: PostedLate;
}

/**
 * One lane for the whole process: all that queued while the last batch was in flight is the next batch, so everything happens in the order in
 * which it was asked for. The answers of a batch are given while the database writes the next one, so that neither waits for the other;
 * when there is no next one, at once.
 */
export function createEngine({ db, log, registry, maxBatch, maxQueue, late }: EngineOptions): Engine {
  const metrics = engineMetrics(registry);
  const facts = createFactsCache(MAX_FACTS);
  const parts: Parts = { db, log, metrics, late, knownOrgs: new Set(), facts };
  let giveAnswers: () => void = () => undefined;
  const lane = createLane<Waiting, void>({
    name: "ledger",
    async work(batch) {
      const give = giveAnswers;
      // This batch may have to wait for locks; what is committed must not wait with it.
      const net = setTimeout(give, LONGEST_DELAY_MS);
      // After the write has left this process, not in the middle of its leaving.
      const settled = await postLive(parts, batch, () => setImmediate(give));
      clearTimeout(net);
      give();
      giveAnswers = once(() => answerAll(batch, settled));
      if (lane.depth === 0) giveAnswers();
      return batch.map(() => BEGUN);
    },
    maxBatch,
    maxQueue,
    ownerOf: ({ request }) => request.orgId,
    registry,
  });
  return {
    post: ({ request, origin, deadlineMs }) =>
      new Promise((resolve, reject) => {
        lane.submit({ request, origin, deadlineMs, resolve, reject }).catch(reject);
      }),
    async close() {
      await lane.close();
      giveAnswers();
    },
  };
}

/** An item with the promise that its caller waits for; the lane's own promise tells only that its batch is done. */
interface Waiting extends Item {
  resolve: (outcome: Outcome) => void;
  reject: (error: unknown) => void;
}

const BEGUN: Settled<void> = { ok: true, value: undefined };

function answerAll(batch: Waiting[], settled: Settled<Outcome>[]): void {
  settled.forEach((outcome, index) => {
    const { resolve, reject } = batch[index]!;
    if (outcome.ok) resolve(outcome.value);
    else reject(outcome.error);
  });
}

/** Forgets what it has done: each batch's answers know the last one's, which would otherwise keep all batches there ever were. */
function once(work: () => void): () => void {
  let pending: (() => void) | undefined = work;
  return () => {
    const due = pending;
    pending = undefined;
    due?.();
  };
}

/** What nobody waits for any more is not begun. */
async function postLive(parts: Parts, items: Item[], onWriting: () => void): Promise<Settled<Outcome>[]> {
  const nowMs = Date.now();
  const live = items.filter(({ deadlineMs }) => deadlineMs > nowMs);
  if (live.length === items.length) return postOrSplit(parts, items, onWriting);
  const settled = live.length === 0 ? [] : await postOrSplit(parts, live, onWriting);
  const byItem = new Map(live.map((item, index) => [item, settled[index]!]));
  return items.map((item) => byItem.get(item) ?? { ok: false, error: new DomainError("SYS_003") });
}

/**
 * The whole batch again first, since most errors of a database pass; then by halves, in order, until the one that cannot be done stands
 * alone and fails alone. `unsure`: a commit that they were part of was not answered.
 */
async function postOrSplit(
  parts: Parts,
  items: Item[],
  onWriting: () => void,
  unsureBefore = false,
): Promise<Settled<Outcome>[]> {
  let unsure = unsureBefore;
  for (let attempt = 1; ; attempt += 1) {
    try {
      const timer = parts.metrics.startBatch();
      const { outcomes, decision } = await postBatch(parts, items, { onLocked: timer.locked, onWriting });
      timer.done();
      parts.metrics.posted(decision);
      parts.late.remember(outcomes);
      return outcomes.map((value) => ({ ok: true, value }));
    } catch (error) {
      unsure ||= error instanceof CommitUnknownError;
      if (attempt < ATTEMPTS && mayPass(error)) continue;
      if (items.length > 1 && !concernsAll(error)) {
        const half = items.length >> 1;
        const first = await postOrSplit(parts, items.slice(0, half), onWriting, unsure);
        return [...first, ...(await postOrSplit(parts, items.slice(half), onWriting, unsure))];
      }
      if (!(error instanceof DomainError))
        parts.log.error({ err: error, items: items.length }, "posting failed");
      parts.metrics.failed(items.length);
      const told = unsure ? perhapsDone(error) : error;
      return items.map(() => ({ ok: false, error: told }));
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

/** The database is away or overloaded: halves would fare no better. A refusal is of one item's text. */
function concernsAll(error: unknown): boolean {
  return error instanceof DomainError && !isRefusal(error);
}
