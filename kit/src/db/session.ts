import { performance } from "node:perf_hooks";
import type { ClientBase, QueryConfig } from "pg";
import { destroyConnection } from "./client";
import { queryable, type Answer, type Queryable } from "./queryable";
import { textOf, type Sql } from "./sql";
import type { Watchdog } from "./watchdog";

/** For other files of this folder only; not exported by the index. */
export const connectSymbol = Symbol("connect");
export const afterCommitSymbol = Symbol("afterCommit");

export type ObserveQuery = (name: string, seconds: number) => void;

/** A connection with one owner. */
export interface Session extends Queryable {
  execute(statement: Sql): Promise<Answer>;
  /** Runs a command without parameters. */
  command(text: string): Promise<void>;
  /**
   * Number of the server's warnings, such as of a commit whose wait for a standby was cancelled.
   */
  readonly warnings: number;
  /** With an error the connection is closed instead of going back to the pool. */
  release(error?: Error): void;
  /** Closes the connection at once; running statements fail as if it were lost. */
  abandon(): void;
}

/** The class of SQLSTATE. */
const WARNING = "01";

export interface SessionParts {
  client: ClientBase;
  release: (error?: Error) => void;
  watchdog: Watchdog;
  observe: ObserveQuery;
}

export function createSession({ client, release, watchdog, observe }: SessionParts): Session {
  let warnings = 0;
  const onNotice = (notice: { code?: string | undefined }): void => {
    // Checks the code, because the severity's name is in the server's language. Plain notices have
    // another code or none.
    if (notice.code?.startsWith(WARNING)) warnings += 1;
  };
  client.on("notice", onNotice);

  const ask = async (config: QueryConfig): Promise<Answer> => {
    const startMs = performance.now();
    watchdog.started(client);
    try {
      return await client.query(config);
    } finally {
      watchdog.ended(client);
      if (config.name !== undefined) observe(config.name, (performance.now() - startMs) / 1000);
    }
  };

  const execute = (statement: Sql): Promise<Answer> => ask(queryConfig(statement));

  return {
    ...queryable(execute),
    execute,
    command: async (text) => void (await ask({ text })),
    get warnings() {
      return warnings;
    },
    release: (error) => {
      client.off("notice", onNotice);
      release(error);
    },
    abandon: () => destroyConnection(client),
  };
}

function queryConfig(statement: Sql): QueryConfig {
  const config: QueryConfig = { text: textOf(statement) };
  if (statement.values.length > 0) config.values = statement.values as unknown[];
  if (statement.name !== undefined) config.name = statement.name;
  return config;
}
