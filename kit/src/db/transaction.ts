import { types } from "node:util";
import { assert } from "../contract/errors";
import { CommitUnknownError, isConnectionLoss, mayHaveHappened } from "./errors";
import { afterCommitSymbol, queryable, type Answer, type Session } from "./session";
import { rawSql, type Sql } from "./sql";
import type { Database, Tx } from "./types";

export interface Transaction {
  handle: Tx;
  commit(): Promise<void>;
  /** Returns the connection to the pool, or closes a useless one. */
  rollBack(reason: unknown): Promise<void>;
  /** Callbacks after the commit. */
  committed: ((db: Database) => void)[];
}

interface Waiting {
  statement: Sql;
  resolve: (answer: Answer) => void;
  reject: (error: unknown) => void;
}

const COMMIT = rawSql("commit");

/**
 * Statements that are requested in one turn travel in one message, the first with BEGIN and the
 * last with COMMIT. So a transaction takes as many round trips as it has awaited queries. After a
 * failed statement no other is executed. The handle dies with its transaction: a forgotten promise
 * must not write into the connection's next one.
 */
export function openTransaction(session: Session, begin: Sql): Transaction {
  const committed: ((db: Database) => void)[] = [];
  let waiting: Waiting[] = [];
  let underWay = false;
  let isAsked = false;
  let open = true;
  let begun = false;
  let committing = false;
  let failure: { error: unknown; pushed: boolean } | undefined;

  const wait = (statement: Sql, pushed: boolean): Promise<Answer> => {
    const answer = new Promise<Answer>((resolve, reject) => waiting.push({ statement, resolve, reject }));
    answer.catch((error: unknown) => (failure ??= { error, pushed }));
    return answer;
  };

  const takeAll = (): Waiting[] => {
    const all = waiting;
    waiting = [];
    isAsked = false;
    return all;
  };

  const send = (): void => {
    if (underWay || !isAsked) return;
    const leaving = takeAll();
    if (failure) return rejectAll(leaving, failure.error);
    underWay = begun = true;
    committing = leaving.at(-1)!.statement === COMMIT;
    const answers = session.together(leaving.map(({ statement }) => statement));
    leaving.forEach(({ resolve, reject }, index) => void answers[index]!.then(resolve, reject));
    void Promise.allSettled(answers).then(() => {
      underWay = false;
      send();
    });
  };

  void wait(begin, true);

  const own = {
    push: (statement: Sql): void => {
      assert(open, "the transaction is over");
      void wait(statement, true);
    },
    [afterCommitSymbol]: (run: (db: Database) => void) => void committed.push(run),
  };
  const questions = queryable(async (statement) => {
    assert(open, "the transaction is over");
    isAsked = true;
    // Statements requested in the same turn travel together.
    queueMicrotask(send);
    return wait(statement, false);
  });

  return {
    handle: Object.assign(questions, own) as unknown as Tx,
    committed,

    async commit() {
      open = false;
      const isEmpty = !begun && waiting.length === 1;
      if (isEmpty) return;
      const warningsBefore = session.warnings;
      const done = wait(COMMIT, true);
      isAsked = true;
      send();
      const { command } = await done.catch((error: unknown) => {
        const hidden = failure !== undefined && !failure.pushed && !isConnectionLoss(error);
        assert(!hidden, "the work swallowed the error of a statement, so its transaction was rolled back");
        throw committing && mayHaveHappened(error) ? new CommitUnknownError(error) : error;
      });
      assert(command === "COMMIT", `the COMMIT was answered with ${command}`);
      // The server stopped waiting for the standby: committed here, but a failover may lose it.
      if (session.warnings !== warningsBefore)
        throw new CommitUnknownError(new Error("the commit was answered with a warning"));
    },

    async rollBack(reason) {
      open = false;
      rejectAll(takeAll(), new Error("the transaction is over"));
      if (!begun) return session.release();
      if (isConnectionLoss(reason)) return session.release(asError(reason));
      try {
        await session.command("rollback");
        session.release();
      } catch (error) {
        session.release(asError(error));
      }
    },
  };
}

function rejectAll(waiting: Waiting[], error: unknown): void {
  for (const { reject } of waiting) reject(error);
}

function asError(error: unknown): Error {
  return types.isNativeError(error) ? error : new Error(String(error));
}
