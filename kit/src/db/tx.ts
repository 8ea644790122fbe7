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
import { afterCommitSymbol, connectSymbol, queryable, type Answer, type Session } from "./session";
import type { Sql } from "./sql";
import type { Database, Tx } from "./types";

export interface TxOptions {
  isolation?: "read committed" | "repeatable read" | "serializable";
  readOnly?: true;
  /** The work begins with statements that only read: they leave together with the BEGIN. Writes have to wait for the answer to one of them. */
  readsFirst?: true;
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
  const begun = session.command(beginCommand(options));
  begun.catch(() => undefined);
  const transaction = openTransaction(session, begun);
  let result: T;
  try {
    if (!options.readsFirst) await begun;
    result = await work(transaction.handle);
    await begun;
  } catch (thrown) {
    transaction.finish();
    const error = sqlStateOf(thrown) === ABORTED ? ((await transaction.failure()) ?? thrown) : thrown;
    await rollBack(session, error);
    assert(!options.readOnly || sqlStateOf(error) !== "25006", "a read-only transaction tried to write");
    throw error;
  }
  transaction.finish();
  await commit(session, transaction.failure);
  // Not here and now: what fails in a hint must not make a committed transaction look failed.
  for (const run of transaction.committed) queueMicrotask(() => run(db));
  return result;
}

/** What every statement is answered after one that failed. */
const ABORTED = "25P02";

/** Sent behind whatever was pushed, without waiting for it. */
async function commit(session: Session, pushFailure: () => Promise<Error | undefined>): Promise<void> {
  const warningsBefore = session.warnings;
  let tag: string;
  try {
    tag = await session.command("commit");
  } catch (error) {
    session.release(isConnectionLoss(error) ? asError(error) : undefined);
    const refused = await pushFailure();
    // An error of the server's had ended the transaction before COMMIT came to it.
    if (refused !== undefined && !mayHaveHappened(refused)) throw refused;
    throw mayHaveHappened(error) ? new CommitUnknownError(error) : error;
  }
  session.release();
  const failure = await pushFailure();
  if (failure !== undefined) throw failure;
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

interface Transaction {
  handle: Tx;
  finish: () => void;
  /** The first error of what was pushed, when all of it is answered. */
  failure: () => Promise<Error | undefined>;
  committed: ((db: Database) => void)[];
}

/** The handle dies with its transaction: a promise that was left running must not write into the connection's next one. */
function openTransaction(session: Session, begun: Promise<unknown>): Transaction {
  const committed: ((db: Database) => void)[] = [];
  let open = true;
  const pushed: Promise<Error | undefined>[] = [];
  const send = async (statement: Sql): Promise<Answer> => {
    assert(open, "the transaction is over");
    const answer = session.execute(statement);
    answer.catch(() => undefined);
    // What was read outside of any transaction must not be believed.
    await begun;
    return answer;
  };
  const own = {
    push: (statement: Sql): void => {
      assert(open, "the transaction is over");
      pushed.push(send(statement).then(() => undefined, asError));
    },
    [afterCommitSymbol]: (run: (db: Database) => void) => void committed.push(run),
  };
  return {
    handle: Object.assign(queryable(send), own) as unknown as Tx,
    finish: () => void (open = false),
    failure: async () => (await Promise.all(pushed)).find((error) => error !== undefined),
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
