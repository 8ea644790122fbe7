import { setTimeout as sleep } from "node:timers/promises";
import { types } from "node:util";
import { currentContext } from "../context";
import { assert } from "../errors";
import {
  CommitUnknownError,
  isConnectionLoss,
  isRetryable,
  mayHaveHappened,
  nothingDone,
  sqlStateOf,
} from "./errors";
import { afterCommitSymbol, connectSymbol, type Session } from "./session";
import type { Database, Queryable, Tx } from "./types";

export interface TxOptions {
  isolation?: "read committed" | "repeatable read" | "serializable";
  readOnly?: true;
  /** How often the whole work is tried when Postgres refuses it for what others do at the same time. */
  attempts?: number;
}

const DEFAULT_ATTEMPTS = 5;
const FIRST_PAUSE_MS = 5;
const LONGEST_PAUSE_MS = 250;

/**
 * Runs the work in one transaction. What it throws rolls everything back. Serialization failures, deadlocks, lock timeouts and a connection
 * lost before COMMIT run the work again (so it must have no effect outside the transaction); a COMMIT without an answer never does.
 */
export async function tx<T>(db: Database, work: (tx: Tx) => Promise<T>, options: TxOptions = {}): Promise<T> {
  const attempts = options.attempts ?? DEFAULT_ATTEMPTS;
  for (let attempt = 1; ; attempt += 1) {
    try {
      return await runOnce(db, work, options);
    } catch (error) {
      const again = isRetryable(error) || isConnectionLoss(error);
      if (!again || attempt >= attempts) throw nothingDone(error);
      const pauseMs = pauseBefore(attempt);
      if (Date.now() + pauseMs >= (currentContext()?.deadlineMs ?? Infinity)) throw nothingDone(error);
      await sleep(pauseMs);
    }
  }
}

/** Runs when the transaction is known to be committed, and not at all otherwise. For hints such as waking somebody: a crash loses it. */
export function afterCommit(tx: Tx, run: (db: Database) => void): void {
  tx[afterCommitSymbol](run);
}

async function runOnce<T>(db: Database, work: (tx: Tx) => Promise<T>, options: TxOptions): Promise<T> {
  const session = await db[connectSymbol]();
  const { handle, finish, committed } = transactionHandle(session);
  let result: T;
  try {
    await session.command(beginCommand(options));
    result = await work(handle);
  } catch (error) {
    finish();
    await rollBack(session, error);
    assert(!options.readOnly || sqlStateOf(error) !== "25006", "a read-only transaction tried to write");
    throw error;
  }
  finish();
  await commit(session);
  // Not here and now: what fails in a hint must not make a committed transaction look failed.
  for (const run of committed) queueMicrotask(() => run(db));
  return result;
}

async function commit(session: Session): Promise<void> {
  const warningsBefore = session.warnings;
  let tag: string;
  try {
    tag = await session.command("commit");
  } catch (error) {
    session.release(isConnectionLoss(error) ? asError(error) : undefined);
    throw mayHaveHappened(error) ? new CommitUnknownError(error) : error;
  }
  session.release();
  // A statement failed and the work hid it: Postgres answers COMMIT with ROLLBACK, which must not pass for success.
  assert(tag === "COMMIT", "the work swallowed the error of a statement, so its transaction was rolled back");
  // The server's way to say that it gave up waiting for the standby: committed here, but perhaps not after a failover.
  if (session.warnings !== warningsBefore)
    throw new CommitUnknownError(new Error("the commit was answered with a warning"));
}

async function rollBack(session: Session, reason: unknown): Promise<void> {
  if (isConnectionLoss(reason)) {
    session.release(asError(reason));
    return;
  }
  try {
    await session.command("rollback");
    session.release();
  } catch (error) {
    session.release(asError(error));
  }
}

interface TransactionHandle {
  handle: Tx;
  finish: () => void;
  committed: ((db: Database) => void)[];
}

/** The handle dies with its transaction: a promise that was left running must not write into the connection's next one. */
function transactionHandle(session: Session): TransactionHandle {
  const committed: ((db: Database) => void)[] = [];
  let open = true;
  const guard = (): Session => {
    assert(open, "the transaction is over");
    return session;
  };
  const handle: Queryable = {
    query: async (statement) => guard().query(statement),
    one: async (statement) => guard().one(statement),
    maybe: async (statement) => guard().maybe(statement),
    run: async (statement) => guard().run(statement),
  };
  const own = { [afterCommitSymbol]: (run: (db: Database) => void) => void committed.push(run) };
  return {
    handle: Object.assign(handle, own) as unknown as Tx,
    finish: () => void (open = false),
    committed,
  };
}

function beginCommand({ isolation, readOnly }: TxOptions): string {
  return `begin${isolation ? ` isolation level ${isolation}` : ""}${readOnly ? " read only" : ""}`;
}

/** Full jitter: contenders that met once should not meet again. */
function pauseBefore(attempt: number): number {
  return Math.random() * Math.min(LONGEST_PAUSE_MS, FIRST_PAUSE_MS * 2 ** attempt);
}

function asError(error: unknown): Error {
  return types.isNativeError(error) ? error : new Error(String(error));
}
