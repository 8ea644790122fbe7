/** What one call may set for itself. */
export interface CallOptions {
  /** For each attempt, in milliseconds. */
  timeoutMs?: number | undefined;
  maxRetries?: number | undefined;
  /** Ends the call, whatever it is doing. */
  signal?: AbortSignal | undefined;
  /** Beyond those of the client, and none that the library sets itself. */
  headers?: Record<string, string> | undefined;
}

/** For calls that move money: each logical call has one key over all its attempts. */
export interface IdempotentCallOptions extends CallOptions {
  /** 1 to 255 printable ASCII characters; without it the library makes one. Give your own to repeat a call after a restart; undefined would be a new one. */
  idempotencyKey?: string;
}

/** An answer with what came around it. */
export interface WithResponse<T> {
  data: T;
  status: number;
  headers: Headers;
  requestId: string;
  /** The key that was sent, if the call takes one. */
  idempotencyKey: string | undefined;
  /** An earlier request with the same key did it, or had begun it. */
  replayed: boolean;
}

/** A promise of the data, or with `withResponse()` of the data and the response around it. */
export class ApiPromise<T> implements Promise<T> {
  readonly [Symbol.toStringTag] = "ApiPromise";
  readonly #answer: Promise<WithResponse<T>>;

  constructor(answer: Promise<WithResponse<T>>) {
    this.#answer = answer;
  }

  withResponse(): Promise<WithResponse<T>> {
    return this.#answer;
  }

  // The promise of the data is made when it is asked for: made before, its failure would go unhandled beside withResponse().
  then<Value = T, Reason = never>(
    onValue?: ((data: T) => Value | PromiseLike<Value>) | null,
    onReason?: ((reason: unknown) => Reason | PromiseLike<Reason>) | null,
  ): Promise<Value | Reason> {
    return this.#answer.then(({ data }) => data).then(onValue, onReason);
  }

  catch<Reason = never>(
    onReason?: ((reason: unknown) => Reason | PromiseLike<Reason>) | null,
  ): Promise<T | Reason> {
    return this.then(undefined, onReason);
  }

  finally(onFinally?: (() => void) | null): Promise<T> {
    return this.#answer.then(({ data }) => data).finally(onFinally);
  }
}
