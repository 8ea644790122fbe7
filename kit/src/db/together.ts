import { type Connection, Query, type QueryConfig, type QueryResult } from "pg";
import { columnTypes } from "./parsers";

/** The driver's callbacks during a query's answer; its types only declare the class. */
interface Answering {
  name?: string | undefined;
  text?: string;
  submit(connection: Connection): Error | null;
  handleRowDescription(message: unknown): void;
  handleDataRow(message: unknown): void;
  handleCommandComplete(message: unknown, connection: Connection): void;
  handleReadyForQuery(connection: Connection): void;
  handleError(error: Error, connection: Connection): void;
}

type Callback = (error: Error | null | undefined, result: unknown) => void;

/** The used methods of the driver's connection, mostly missing in its types. */
interface WholeConnection extends Connection {
  parsedStatements: Record<string, string>;
  /** Statements that were sent for preparation and are not confirmed yet. */
  submittedNamedStatements: Record<string, string>;
  parse(message: unknown): void;
  bind(message: unknown): void;
  describe(message: unknown): void;
  execute(message: unknown): void;
  sync(): void;
}

/**
 * A connection without Sync: a statement that ended its message would get an early answer, and
 * later ones would be executed after its failure.
 */
class Unsynced {
  readonly stream: Connection["stream"];
  readonly parsedStatements: Record<string, string>;
  readonly submittedNamedStatements: Record<string, string>;
  readonly #connection: WholeConnection;

  constructor(connection: WholeConnection) {
    this.stream = connection.stream;
    this.parsedStatements = connection.parsedStatements;
    this.submittedNamedStatements = connection.submittedNamedStatements;
    this.#connection = connection;
  }

  parse(message: unknown): void {
    this.#connection.parse(message);
  }

  bind(message: unknown): void {
    this.#connection.bind(message);
  }

  describe(message: unknown): void {
    this.#connection.describe(message);
  }

  execute(message: unknown): void {
    this.#connection.execute(message);
  }

  sync(): void {}

  /**
   * The driver calls this for unsendable values. Later statements would be executed without this
   * one.
   */
  close(): void {
    throw new Error("a value of a statement cannot be sent");
  }
}

/**
 * Several statements in one message. The server executes them in order, each with its own snapshot,
 * and none after a failed one. The driver sees one query.
 */
export class Together extends Query {
  readonly #statements: Answering[];
  #answered = 0;
  /**
   * The driver asks for name and text of the statement that it prepared; these belong to the
   * present one.
   */
  declare name: string | undefined;
  declare text: string | undefined;

  constructor(statements: Answering[]) {
    super("");
    this.#statements = statements;
    this.#look();
  }

  override submit = (connection: Connection): Error | null => {
    const { stream } = connection;
    const unsynced = new Unsynced(connection as WholeConnection);
    stream.cork();
    try {
      for (const statement of this.#statements) {
        const mistake = statement.submit(unsynced as unknown as Connection);
        if (mistake) throw mistake;
      }
      (connection as WholeConnection).sync();
    } catch (error) {
      // No part has been sent, and half a message cannot be undone.
      stream.destroy(error as Error);
    } finally {
      stream.uncork();
    }
    return null;
  };

  handleRowDescription(message: unknown): void {
    this.#current?.handleRowDescription(message);
  }

  handleDataRow(message: unknown): void {
    this.#current?.handleDataRow(message);
  }

  handleCommandComplete(message: unknown, connection: Connection): void {
    this.#current?.handleCommandComplete(message, connection);
    this.#answered += 1;
    this.#look();
  }

  /** The whole answer to a text that is empty. */
  handleEmptyQuery(): void {
    this.#answered += 1;
    this.#look();
  }

  handleReadyForQuery(connection: Connection): void {
    for (const statement of this.#statements) statement.handleReadyForQuery(connection);
  }

  /** The failed statement and the later, unexecuted ones get the same error. */
  handleError(error: Error, connection: Connection): void {
    this.#statements.forEach((statement, index) => {
      if (index < this.#answered) return statement.handleReadyForQuery(connection);
      if (statement.name !== undefined)
        delete (connection as WholeConnection).submittedNamedStatements[statement.name];
      statement.handleError(error, connection);
    });
  }

  get #current(): Answering | undefined {
    return this.#statements[this.#answered];
  }

  #look(): void {
    this.name = this.#current?.name;
    this.text = this.#current?.text;
  }
}

/** A statement of the message, with a promise of its answer. */
export function partOf(config: QueryConfig): { part: Answering; answer: Promise<QueryResult> } {
  let callback: Callback;
  const answer = new Promise<QueryResult>((resolve, reject) => {
    callback = (error, result) => (error ? reject(error) : resolve(result as QueryResult));
  });
  // Without values the driver would use the simple protocol, which cannot combine statements.
  const extended = { ...config, queryMode: "extended", types: columnTypes } as QueryConfig;
  return { part: new Query(extended, callback!) as unknown as Answering, answer };
}
