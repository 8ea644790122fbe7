import { setTimeout as sleep } from "node:timers/promises";
import { currentContext } from "../context";
import { assert } from "../contract/errors";
import { isConnectionLoss, isRetryable, asRolledBack, sqlStateOf } from "./errors";
import { afterCommitSymbol, connectSymbol } from "./session";
import { rawSql, type Sql } from "./sql";
import { openTransaction } from "./transaction";
import type { Database, Tx } from "./types";

export interface TxOptions {
  isolation?: "read committed" | "repeatable read" | "serializable";
  readOnly?: true;
  /** Number of attempts when Postgres refuses the work because of concurrent transactions. */
  attempts?: number;
  /** Ends the transaction by closing its connection; the work does not run again. */
  signal?: AbortSignal;
}

const DEFAULT_ATTEMPTS = 5;
const FIRST_PAUSE_MS = 5;
const LONGEST_PAUSE_MS = 250;

/**
 * Runs the work in one transaction. An error rolls everything back. Serialization failures,
 * deadlocks, lock timeouts and a connection lost before COMMIT run the work again, so it must have
 * no effect outside of the transaction. A COMMIT without an answer never does.
 */
export async function tx<T>(db: Database, work: (tx: Tx) => Promise<T>, options: TxOptions = {}): Promise<T> {
  const attempts = options.attempts ?? DEFAULT_ATTEMPTS;
  for (let attempt = 1; ; attempt += 1) {
    try {
      return await runOnce(db, work, options);
    } catch (error) {
      const again = !options.signal?.aborted && (isRetryable(error) || isConnectionLoss(error));
      if (!again || attempt >= attempts) throw asRolledBack(error);
      const pauseMs = pauseBefore(attempt);
      if (Date.now() + pauseMs >= (currentContext()?.deadlineMs ?? Infinity)) throw asRolledBack(error);
      await sleep(pauseMs);
    }
  }
}

/** Runs after a confirmed commit only. For hints such as a wake-up: a crash loses it. */
export function afterCommit(tx: Tx, run: (db: Database) => void): void {
  tx[afterCommitSymbol](run);
}

async function runOnce<T>(db: Database, work: (tx: Tx) => Promise<T>, options: TxOptions): Promise<T> {
  const { signal } = options;
  const session = await db[connectSymbol]();
  if (signal?.aborted) {
    session.release();
    throw signal.reason;
  }
  const transaction = openTransaction(session, beginning(options));
  const abandon = (): void => session.abandon();
  signal?.addEventListener("abort", abandon);
  let result: T;
  try {
    result = await work(transaction.handle);
    await transaction.commit();
  } catch (error) {
    await transaction.rollBack(error);
    assert(!options.readOnly || sqlStateOf(error) !== "25006", "a read-only transaction tried to write");
    throw error;
  } finally {
    signal?.removeEventListener("abort", abandon);
  }
  session.release();
  // Deferred, because a failing hint must not make a committed transaction look failed.
  for (const run of transaction.committed) queueMicrotask(() => run(db));
  return result;
}

function beginning({ isolation, readOnly }: TxOptions): Sql {
  return rawSql(`begin${isolation ? ` isolation level ${isolation}` : ""}${readOnly ? " read only" : ""}`);
}

/** Full jitter, so that contenders do not meet again. */
function pauseBefore(attempt: number): number {
  return Math.random() * Math.min(LONGEST_PAUSE_MS, FIRST_PAUSE_MS * 2 ** attempt);
}
