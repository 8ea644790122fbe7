import { AsyncResource } from "node:async_hooks";
import { performance } from "node:perf_hooks";
import { DomainError, assert } from "./contract/errors";
import { createOwnerLimits, NOBODY, takeFairly } from "./ownerLimits";
import { DURATION_BUCKETS_SECONDS, Gauge, Histogram, shared, type Registry } from "./metrics";

/** Result of one item. The others of its batch are unaffected. */
export type Outcome<T> = { ok: true; value: T } | { ok: false; error: unknown };

export interface BatchQueueOptions<I, O> {
  name: string;
  /**
   * Returns one outcome per item, in order. If it throws, all items of this batch fail with its
   * error.
   */
  work: (items: I[]) => Promise<Outcome<O>[]>;
  maxBatch: number;
  /** Limit of waiting items. The next one is refused at once. */
  maxQueue: number;
  /**
   * Owner of an item, where several share the queue: an owner with many items does not delay
   * others.
   */
  ownerOf?: (item: I) => string | undefined;
  /** The part of a batch that an item takes. The parts of a batch add up to 1 at most. Absent: only `maxBatch` limits. */
  weightOf?: (item: I) => number;
  registry?: Registry;
}

export interface BatchQueue<I, O> {
  submit(item: I): Promise<O>;
  /** How many items wait for the next batch. */
  readonly depth: number;
  /** Refuses later items, and resolves when every accepted one is answered. */
  close(): Promise<void>;
}

interface Waiting<I, O> {
  item: I;
  owner: string;
  weight: number;
  sinceMs: number;
  resolve: (value: O) => void;
  reject: (error: unknown) => void;
}

/** Largest share of the queue for one of several owners. */
const LARGEST_SHARE = 0.5;
const MIN_RETRY_AFTER_MS = 50;
const MAX_RETRY_AFTER_MS = 5_000;

/**
 * Turns many small calls into few large ones: the worker gets all items that queued during its last
 * batch. A single item goes at once, and under load batches grow by themselves, so no timer needs
 * tuning. More items than one batch are taken in turns of their owners, in each owner's order.
 */
export function createBatchQueue<I, O>({
  name,
  work,
  maxBatch,
  maxQueue,
  ownerOf,
  weightOf = () => 0,
  registry,
}: BatchQueueOptions<I, O>): BatchQueue<I, O> {
  assert(maxBatch > 0 && maxQueue >= maxBatch, `batch queue ${name}: maxQueue must hold at least one batch`);
  let queue: Waiting<I, O>[] = [];
  const ownerLimits = createOwnerLimits(Math.ceil(maxQueue * LARGEST_SHARE));
  let running = false;
  let closed = false;
  let lastBatchMs = 0;
  let onIdle: (() => void)[] = [];
  const measure = queueMetrics(registry, name, () => queue.length);

  // Bound to the queue's creation: a batch belongs to many requests, and must not inherit one's
  // deadline or id.
  const run = AsyncResource.bind(async (): Promise<void> => {
    while (queue.length > 0) {
      const batch = takeBatch();
      const startMs = performance.now();
      measure(batch.length, startMs - batch[0]!.sinceMs);
      await answer(batch, work);
      lastBatchMs = performance.now() - startMs;
    }
    running = false;
    onIdle.forEach((resolve) => resolve());
    onIdle = [];
  });

  const takeBatch = (): Waiting<I, O>[] => {
    const { taken, left } = takeFairly(queue, { items: maxBatch, weight: 1 });
    queue = left;
    for (const { owner } of taken) ownerLimits.release(owner);
    return taken;
  };

  const refusal = (): DomainError => {
    const batchesAhead = Math.ceil((queue.length + 1) / maxBatch);
    const waitMs = Math.round(batchesAhead * lastBatchMs);
    return new DomainError("SYS_002", {
      retryAfterMs: Math.min(MAX_RETRY_AFTER_MS, Math.max(MIN_RETRY_AFTER_MS, waitMs)),
    });
  };

  return {
    submit(item) {
      const owner = ownerOf?.(item) ?? NOBODY;
      if (closed || queue.length >= maxQueue || !ownerLimits.reserve(owner)) return Promise.reject(refusal());
      return new Promise<O>((resolve, reject) => {
        queue.push({ item, owner, weight: weightOf(item), sinceMs: performance.now(), resolve, reject });
        if (running) return;
        running = true;
        // After all readable sockets, so that requests that arrived together are sent together.
        setImmediate(() => void run());
      });
    },
    get depth() {
      return queue.length;
    },
    async close() {
      closed = true;
      if (running) await new Promise<void>((resolve) => onIdle.push(resolve));
    },
  };
}

async function answer<I, O>(batch: Waiting<I, O>[], work: BatchQueueOptions<I, O>["work"]): Promise<void> {
  try {
    const outcomes = await work(batch.map(({ item }) => item));
    assert(
      outcomes.length === batch.length,
      `a worker gave ${outcomes.length} outcomes for ${batch.length} items`,
    );
    outcomes.forEach((outcome, index) => {
      const { resolve, reject } = batch[index]!;
      if (outcome.ok) resolve(outcome.value);
      else reject(outcome.error);
    });
  } catch (error) {
    for (const { reject } of batch) reject(error);
  }
}

type Measure = (batchSize: number, longestWaitMs: number) => void;

function queueMetrics(registry: Registry | undefined, queue: string, depth: () => number): Measure {
  if (!registry) return () => undefined;
  const batchSize = shared(registry, "batch_queue_batch_size", (name) => {
    const buckets = [1, 2, 5, 10, 20, 50, 100, 200, 500, 1000];
    return new Histogram({
      name,
      help: "Items in one batch",
      labelNames: ["queue"],
      buckets,
      registers: [registry],
    });
  }).labels(queue);
  const wait = shared(registry, "batch_queue_wait_seconds", (name) => {
    const help = "How long the first item of a batch waited for it";
    return new Histogram({
      name,
      help,
      labelNames: ["queue"],
      buckets: DURATION_BUCKETS_SECONDS,
      registers: [registry],
    });
  }).labels(queue);
  depthsOf(registry).set(queue, depth);
  return (size, longestWaitMs) => {
    batchSize.observe(size);
    wait.observe(longestWaitMs / 1000);
  };
}

const depthsByRegistry = new WeakMap<Registry, Map<string, () => number>>();

/** Computed at a scrape, so that queueing costs nothing. */
function depthsOf(registry: Registry): Map<string, () => number> {
  const known = depthsByRegistry.get(registry);
  if (known) return known;
  const depths = new Map<string, () => number>();
  depthsByRegistry.set(registry, depths);
  new Gauge({
    name: "batch_queue_depth",
    help: "Items that wait for the next batch",
    labelNames: ["queue"],
    registers: [registry],
    collect() {
      for (const [queue, depth] of depths) this.set({ queue }, depth());
    },
  });
  return depths;
}
