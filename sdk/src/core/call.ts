/** Options of a single call. */
export interface CallOptions {
  /** Time limit of each attempt in milliseconds. Default: the client's. */
  timeoutMs?: number | undefined;
  /** Retries after the first attempt. Default: the client's. */
  maxRetries?: number | undefined;
  /** Ends the call and its retries when it aborts. */
  signal?: AbortSignal | undefined;
  /** Headers beside those of the client. Headers that the library sets are refused. */
  headers?: Record<string, string> | undefined;
}

/** Options of a call that moves or records money. All attempts of a call share one key. */
export interface IdempotentCallOptions extends CallOptions {
  /**
   * 1 to 255 printable ASCII characters. Default: a new key for each call. Give your own key to
   * repeat a call after a restart. An undefined key is refused, because it would be a new key.
   */
  idempotencyKey?: string;
}

/** Data of an answer with the response around it. */
export interface WithResponse<T> {
  /** Data of the answer. */
  data: T;
  /** HTTP status. */
  status: number;
  /** Headers of the response. */
  headers: Headers;
  /** Id of the request, for support. */
  requestId: string;
  /** The key that was sent, if the call takes one. */
  idempotencyKey: string | undefined;
  /** True when an earlier request with the same key was executed or had started. */
  replayed: boolean;
}

/** A promise of the data. `withResponse()` gives the data and the response around it. */
export class ApiPromise<T> implements Promise<T> {
  readonly [Symbol.toStringTag] = "ApiPromise";
  readonly #response: Promise<WithResponse<T>>;

  constructor(response: Promise<WithResponse<T>>) {
    this.#response = response;
  }

  /** Resolves with the data, the status, the headers and the request id. */
  withResponse(): Promise<WithResponse<T>> {
    return this.#response;
  }

  // Derived at each access: a stored promise would reject unhandled beside withResponse().
  /** Same as Promise.then, with the data. */
  then<Value = T, Reason = never>(
    onValue?: ((data: T) => Value | PromiseLike<Value>) | null,
    onReason?: ((reason: unknown) => Reason | PromiseLike<Reason>) | null,
  ): Promise<Value | Reason> {
    return this.#response.then(({ data }) => data).then(onValue, onReason);
  }

  /** Same as Promise.catch. */
  catch<Reason = never>(
    onReason?: ((reason: unknown) => Reason | PromiseLike<Reason>) | null,
  ): Promise<T | Reason> {
    return this.then(undefined, onReason);
  }

  /** Same as Promise.finally. */
  finally(onFinally?: (() => void) | null): Promise<T> {
    return this.#response.then(({ data }) => data).finally(onFinally);
  }
}
