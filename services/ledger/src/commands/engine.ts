import { CommitUnknownError, isUniqueViolation, type Database } from "@wonrail/kit/db";
import { DomainError, isRefusal, asOutcomeUnknown } from "@wonrail/kit/contract/errors";
import { createBatchQueue, type BatchQueue, type Outcome as Settled } from "@wonrail/kit/batchQueue";
import type { Log } from "@wonrail/kit/log";
import type { Registry } from "@wonrail/kit/metrics";
import type { Answer, Decision } from "../intents/decide";
import { createFactsCache } from "../store/factsCache";
import { StaleStateError } from "../store/staleState";
import { engineMetrics, type EngineMetrics } from "../metrics/engineMetrics";
import type { ChargeBudget } from "./chargeBudget";
import { postBatch, type BatchDeps, type Item } from "./postBatch";
import { postTogether, type Group } from "./postTogether";

export interface EngineOptions {
  db: Database;
  log: Log;
  registry: Registry;
  /** How many batches may be in flight at once. An organisation always uses the same queue. */
  queues: number;
  maxBatch: number;
  maxQueue: number;
  chargeBudget: ChargeBudget;
  /** Whether organisations can have test clocks. */
  hasSandbox: boolean;
}

export interface Engine {
  /**
   * Resolves after the commit. A refusal is an answer. A rejection says nothing about the outcome.
   */
  post(item: Item): Promise<Answer>;
  /** Posts all requests of a group in one transaction, or none. */
  postTogether(group: Group): Promise<Answer[]>;
  close(): Promise<void>;
}

const ATTEMPTS = 3;
const LONGEST_DELAY_MS = 20;
/** Some 300 bytes each. */
const MAX_FACTS = 100_000;

interface Parts extends BatchDeps {
  log: Log;
  metrics: EngineMetrics;
}

/**
 * Posts requests in batches. The batch queues share caches and metrics. Organisations of different
 * queues never wait for each other.
 */
export function createEngine(options: EngineOptions): Engine {
  const { db, log, registry, queues: count, maxBatch, maxQueue, chargeBudget, hasSandbox } = options;
  const metrics = engineMetrics(registry);
  const facts = createFactsCache(MAX_FACTS);
  const parts: Parts = { db, log, metrics, knownOrgs: new Set(), facts, chargeBudget, hasSandbox };
  const queues = Array.from({ length: count }, (_, index) =>
    createPostingQueue(parts, { name: `ledger_${index}`, maxBatch, maxQueue, registry }),
  );
  const groups = new Map<string, Promise<unknown>>();
  return {
    async post(item) {
      // In a batch, the item would let all organisations of the queue wait for the group's locks.
      await groups.get(item.request.orgId);
      return queues[queueIndexOf(item.request.orgId, count)]!.post(item);
    },
    async postTogether(group) {
      const { orgId } = group.requests[0]!;
      const answers = (groups.get(orgId) ?? Promise.resolve()).then(() => postGroup(parts, group));
      const ended = answers.then(
        () => undefined,
        () => undefined,
      );
      groups.set(orgId, ended);
      await ended;
      if (groups.get(orgId) === ended) groups.delete(orgId);
      return answers;
    },
    async close() {
      await Promise.all(groups.values());
      await Promise.all(queues.map((queue) => queue.close()));
    },
  };
}

async function postGroup(parts: Parts, group: Group): Promise<Answer[]> {
  let unsure = false;
  for (let attempt = 1; ; attempt += 1) {
    try {
      return await postTogether(parts, group);
    } catch (error) {
      unsure ||= error instanceof CommitUnknownError;
      if (attempt < ATTEMPTS && mayPass(error)) continue;
      throw unsure ? asOutcomeUnknown(error) : error;
    }
  }
}

/** The last digits of an organisation's id are random. */
function queueIndexOf(orgId: string, count: number): number {
  return Number.parseInt(orgId.slice(-6), 16) % count;
}

interface QueueSettings {
  name: string;
  maxBatch: number;
  maxQueue: number;
  registry: Registry;
}

/**
 * A queue posts everything that queued during its last batch as its next batch, in order of arrival.
 * It sends a batch's answers while the database writes the next batch, or at once when none waits.
 */
function createPostingQueue(parts: Parts, settings: QueueSettings): Pick<Engine, "post" | "close"> {
  let giveAnswers: () => void = () => undefined;
  const queue: BatchQueue<Waiting, void> = createBatchQueue<Waiting, void>({
    ...settings,
    async work(batch) {
      const give = giveAnswers;
      // This batch may wait for locks. The answers of the last batch must not wait with it.
      const net = setTimeout(give, LONGEST_DELAY_MS);
      // After the write has left this process, not in the middle of it.
      const settled = await postLive(parts, batch, () => setImmediate(give));
      clearTimeout(net);
      give();
      giveAnswers = once(() => answerAll(batch, settled));
      if (queue.depth === 0) giveAnswers();
      return batch.map(() => BEGUN);
    },
    ownerOf: ({ request }) => request.orgId,
  });
  return {
    post: ({ request, origin, deadlineMs }) =>
      new Promise((resolve, reject) => {
        queue.submit({ request, origin, deadlineMs, resolve, reject }).catch(reject);
      }),
    async close() {
      await queue.close();
      giveAnswers();
    },
  };
}

/** An item with its caller's promise. The queue's own promise ends with the batch. */
interface Waiting extends Item {
  resolve: (answer: Answer) => void;
  reject: (error: unknown) => void;
}

const BEGUN: Settled<void> = { ok: true, value: undefined };

function answerAll(batch: Waiting[], settled: Settled<Answer>[]): void {
  settled.forEach((outcome, index) => {
    const { resolve, reject } = batch[index]!;
    if (outcome.ok) resolve(outcome.value);
    else reject(outcome.error);
  });
}

/**
 * Releases the work after it ran. A batch's answers refer to the previous batch's, which would
 * otherwise keep every batch in memory.
 */
function once(work: () => void): () => void {
  let pending: (() => void) | undefined = work;
  return () => {
    const due = pending;
    pending = undefined;
    due?.();
  };
}

/** Skips items whose deadline has passed. */
async function postLive(parts: Parts, items: Item[], onWriting: () => void): Promise<Settled<Answer>[]> {
  const nowMs = Date.now();
  const live = items.filter(({ deadlineMs }) => deadlineMs > nowMs);
  if (live.length === items.length) return postOrSplit(parts, items, onWriting);
  const settled = live.length === 0 ? [] : await postOrSplit(parts, live, onWriting);
  const byItem = new Map(live.map((item, index) => [item, settled[index]!]));
  return items.map((item) => byItem.get(item) ?? { ok: false, error: new DomainError("SYS_003") });
}

/**
 * Retries the whole batch first, because most database errors pass. Then splits the batch in
 * halves, in order, until the failing item is alone. `unsure`: a COMMIT with these items got no
 * answer.
 */
async function postOrSplit(
  parts: Parts,
  items: Item[],
  onWriting: () => void,
  unsureBefore = false,
): Promise<Settled<Answer>[]> {
  let unsure = unsureBefore;
  for (let attempt = 1; ; attempt += 1) {
    const tried = await tryBatch(parts, items, onWriting);
    if (tried.ok) return tried.value.answers.map((value) => ({ ok: true, value }));
    const { error } = tried;
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
    const reported = unsure ? asOutcomeUnknown(error) : error;
    return items.map(() => ({ ok: false, error: reported }));
  }
}

/** The batch is posted when it is committed. A failure of the bookkeeping after that is logged only. */
async function tryBatch(parts: Parts, items: Item[], onWriting: () => void): Promise<Settled<Decision>> {
  const timer = parts.metrics.startBatch();
  let decision: Decision;
  try {
    decision = await postBatch(parts, items, { onLocked: timer.locked, onWriting });
  } catch (error) {
    return { ok: false, error };
  }
  try {
    timer.done();
    parts.metrics.posted(decision);
  } catch (error) {
    parts.log.error({ err: error }, "the metrics of a posted batch failed");
  }
  return { ok: true, value: decision };
}

/**
 * A COMMIT without an answer is repeated: the journal replays its effects. A unique key of another
 * replica's batch, and state that changed before the locks, are read again by the next attempt.
 */
function mayPass(error: unknown): boolean {
  return error instanceof CommitUnknownError || error instanceof StaleStateError || isUniqueViolation(error);
}

/** The database is down or overloaded: splitting the batch cannot help. A refusal concerns one item. */
function concernsAll(error: unknown): boolean {
  return error instanceof DomainError && !isRefusal(error);
}
