import { type Connection, Query, type QueryConfig, type QueryResult } from "pg";
import { columnTypes } from "./parsers";

/** What the driver calls while a query's answer comes in; its types tell of the class only. */
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

/** What a query sends through; the driver's types leave most of it out. */
interface WholeConnection extends Connection {
  parsedStatements: Record<string, string>;
  /** What the server has been asked to prepare and has not confirmed yet. */
  submittedNamedStatements: Record<string, string>;
  parse(message: unknown): void;
  bind(message: unknown): void;
  describe(message: unknown): void;
  execute(message: unknown): void;
  sync(): void;
}

/** A connection that a statement cannot end its message on: the server would answer there, and do what follows whatever became of it. */
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

  /** So the driver ends a statement whose values it cannot send. What follows it would be done without it. */
  close(): void {
    throw new Error("a value of a statement cannot be sent");
  }
}

/**
 * Several statements in one message, answered by one: the server does them one after the other, each with a snapshot of its own, and after one that
 * failed none, whichever they are. To the driver it is one query.
 */
export class Together extends Query {
  readonly #statements: Answering[];
  #answered = 0;
  /** Which of them the driver means by what it is told next: it asks after the name and text of what was prepared. */
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
      // Nothing of it has left, and half a message cannot be taken back.
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

  /** The one that failed and those that were not done for it have the same reason. */
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

/** A statement as one of several, with what it is answered. */
export function partOf(config: QueryConfig): { part: Answering; answer: Promise<QueryResult> } {
  let callback: Callback;
  const answer = new Promise<QueryResult>((resolve, reject) => {
    callback = (error, result) => (error ? reject(error) : resolve(result as QueryResult));
  });
  // Without values the driver would send it by the simple protocol, which knows no message of several.
  const extended = { ...config, queryMode: "extended", types: columnTypes } as QueryConfig;
  return { part: new Query(extended, callback!) as unknown as Answering, answer };
}
