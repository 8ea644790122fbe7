import { setImmediate as nextTurn } from "node:timers/promises";
import { types } from "node:util";
import { assert } from "../contract/errors";
import { CommitUnknownError, isConnectionLoss, mayBeExecuted } from "./errors";
import { queryable, type Answer } from "./queryable";
import { afterCommitSymbol, type Session } from "./session";
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

const COMMIT = rawSql("commit");

/**
 * Statements that are requested in one turn travel in one message, the first with BEGIN and the
 * last with COMMIT. So a transaction takes as many round trips as it has awaited queries. After a
 * failed statement no other is executed. The handle dies with its transaction: a forgotten promise
 * must not write into the connection's next one.
 */
export function openTransaction(session: Session, begin: Sql): Transaction {
  const committed: ((db: Database) => void)[] = [];
  let begun: Promise<Answer> | undefined;
  let isOpen = true;
  let isOver = false;
  let failure: { error: unknown; isPushed: boolean } | undefined;

  const send = async (statement: Sql, isPushed: boolean): Promise<Answer> => {
    assert(isOpen, "the transaction is over");
    try {
      await (begun ??= session.execute(begin));
      if (isOver) throw new Error("the transaction is over");
      return await session.execute(statement);
    } catch (error) {
      failure ??= { error, isPushed };
      throw failure.error;
    }
  };

  const own = {
    push: (statement: Sql): void => {
      assert(isOpen, "the transaction is over");
      send(statement, true).catch(() => undefined);
    },
    [afterCommitSymbol]: (run: (db: Database) => void) => void committed.push(run),
  };
  const questions = queryable((statement) => send(statement, false));

  /** The error of the work's statements, if one failed. */
  const assertNothingFailed = (): void => {
    if (!failure) return;
    const isSwallowed = !failure.isPushed && !isConnectionLoss(failure.error);
    assert(!isSwallowed, "the work swallowed the error of a statement, so its transaction was rolled back");
    throw failure.error;
  };

  return {
    handle: Object.assign(questions, own) as unknown as Tx,
    committed,

    async commit() {
      isOpen = false;
      if (!begun) return;
      await begun;
      // By the next turn, the driver has reported every statement that it could not send.
      await nextTurn();
      assertNothingFailed();
      const warningsBefore = session.warnings;
      let command: string;
      try {
        ({ command } = await session.execute(COMMIT));
      } catch (error) {
        throw mayBeExecuted(error) ? new CommitUnknownError(error) : error;
      }
      assertNothingFailed();
      assert(command === "COMMIT", `the COMMIT was answered with ${command}`);
      // The server stopped waiting for the standby: committed here, but a failover may lose it.
      if (session.warnings !== warningsBefore)
        throw new CommitUnknownError(new Error("the commit was answered with a warning"));
    },

    async rollBack(reason) {
      isOpen = false;
      isOver = true;
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

function asError(error: unknown): Error {
  return types.isNativeError(error) ? error : new Error(String(error));
}
