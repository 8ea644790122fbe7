import { ApiPromise, type CallOptions, type IdempotentCallOptions } from "../core/call.ts";
import { firstPage, type PageData, PagePromise, type PageQuery } from "../core/page.ts";
import type { ApiRequest, Transport } from "./transport.ts";

/** Builds path, body or query inside the call, so that a failing check rejects the promise. */
type PathBuilder = () => string;
type BodyBuilder = () => { path: string; body?: object };
type QueryBuilder = () => { path: string; query: PageQuery & Filters };
type Filters = Readonly<Record<string, string | number | undefined>>;

/** The kinds of calls that resources use. */
export class ApiResource {
  readonly #transport: Transport;

  constructor(transport: Transport) {
    this.#transport = transport;
  }

  protected read<T>(path: PathBuilder, options?: CallOptions): ApiPromise<T> {
    return this.call(() => ({ method: "GET", path: path(), repeat: "safe", options }));
  }

  protected pages<T>(list: QueryBuilder, options?: CallOptions): PagePromise<T> {
    const first = async () => {
      const { path, query } = list();
      const { limit: _limit, currentPage: _currentPage, cursor: _cursor, ...filters } = query;
      return firstPage<T>(query, ({ limit, currentPage, cursor }) => {
        const target = { path, query: { ...filters, limit, currentPage, cursor } };
        return this.#transport.send<PageData<T>>({ method: "GET", ...target, repeat: "safe", options });
      });
    };
    return new PagePromise(first());
  }

  /** A POST with an idempotency key, which makes it safe to repeat. */
  protected keyedPost<T>(request: BodyBuilder, options?: IdempotentCallOptions): ApiPromise<T> {
    return this.call(() => ({ method: "POST", ...request(), repeat: "keyed", options }));
  }

  /** A PATCH sets values, so a repetition changes nothing. */
  protected patch<T>(request: BodyBuilder, options?: CallOptions): ApiPromise<T> {
    return this.call(() => ({ method: "PATCH", ...request(), repeat: "safe", options }));
  }

  protected call<T>(request: () => ApiRequest): ApiPromise<T> {
    return new ApiPromise((async () => this.#transport.send<T>(request()))());
  }
}
